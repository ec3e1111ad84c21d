#include "lib/http/head_writer.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/base/status.h"
#include "lib/http/grammar.h"

namespace sluice::http {
namespace {

/// What is said of one hop only, and only by this file.
bool IsHopField(absl::string_view name) {
  return absl::EqualsIgnoreCase(name, "Connection") ||
         absl::EqualsIgnoreCase(name, "Transfer-Encoding");
}

absl::Status BadField(const Header& field, absl::string_view reason) {
  return absl::InternalError(absl::StrCat("header `", absl::CHexEscape(field.name), "`: ", reason));
}

absl::Status CheckFields(const HeaderList& headers) {
  for (const Header& field : headers) {
    if (!IsToken(field.name)) return BadField(field, "malformed name");
    if (!IsText(field.value)) return BadField(field, "malformed value");
    if (IsHopField(field.name)) return BadField(field, "belongs to one hop");
  }
  return absl::OkStatus();
}

void AppendFields(const HeaderList& headers, std::string* out) {
  for (const Header& field : headers) {
    absl::StrAppend(out, field.name, ": ", field.value, "\r\n");
  }
}

bool AnticipatesBody(absl::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

absl::Status AppendResponseHead(const ResponseHead& head, bool chunked, bool keep_alive,
                                std::string* out) {
  if (head.status < 100 || head.status > 999) {
    return absl::InternalError(absl::StrCat("status ", head.status, ": not of three digits"));
  }
  if (!IsText(head.reason)) return absl::InternalError("reason phrase: control byte");
  SLUICE_RETURN_IF_ERROR(CheckFields(head.headers));
  if (chunked && head.headers.Find("Content-Length") != nullptr) {
    return absl::InternalError("header `Content-Length`: beside Transfer-Encoding");
  }
  absl::StrAppend(out, "HTTP/1.1 ", head.status, " ", head.reason, "\r\n");
  AppendFields(head.headers, out);
  if (chunked) out->append("Transfer-Encoding: chunked\r\n");
  if (!keep_alive) out->append("Connection: close\r\n");
  out->append("\r\n");
  return absl::OkStatus();
}

absl::Status AppendRequestHead(absl::string_view method, absl::string_view target,
                               absl::string_view host, const HeaderList& headers, size_t body_bytes,
                               std::string* out) {
  if (!IsToken(method)) return absl::InternalError("method: not a token");
  if (!IsTarget(target)) return absl::InternalError("target: malformed");
  if (!IsAuthority(host)) return absl::InternalError("host: malformed");
  SLUICE_RETURN_IF_ERROR(CheckFields(headers));
  for (const absl::string_view name : {"Host", "Content-Length"}) {
    if (headers.Find(name) == nullptr) continue;
    return absl::InternalError(absl::StrCat("header `", name, "`: is not the caller's to write"));
  }
  absl::StrAppend(out, method, " ", target, " HTTP/1.1\r\nHost: ", host, "\r\n");
  AppendFields(headers, out);
  if (body_bytes > 0 || AnticipatesBody(method)) {
    absl::StrAppend(out, "Content-Length: ", body_bytes, "\r\n");
  }
  out->append("\r\n");
  return absl::OkStatus();
}

}  // namespace sluice::http
