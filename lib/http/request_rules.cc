#include "lib/http/request_rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "lib/http/grammar.h"

namespace sluice::http {
namespace {

constexpr absl::string_view kHttpScheme = "http://";

std::optional<Refusal> CheckHost(const Request& request) {
  const size_t hosts = request.headers.Count("Host");
  if (hosts > 1) return BadRequest("Host: sent more than once");
  if (hosts == 0) {
    if (request.minor_version == 0) return std::nullopt;
    return BadRequest("Host: missing");
  }
  if (!IsAuthority(*request.headers.Find("Host"))) return BadRequest("Host: malformed");
  return std::nullopt;
}

std::optional<Refusal> ReduceAbsoluteForm(Request* request) {
  const absl::string_view rest = absl::string_view(request->target).substr(kHttpScheme.size());
  const size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
  const absl::string_view authority = rest.substr(0, authority_end);
  if (!IsAuthority(authority)) return BadRequest("request line: malformed host in the target");
  request->headers.Set("Host", authority);

  const absl::string_view path_and_query = rest.substr(authority_end);
  absl::string_view root;
  if (path_and_query.empty() && request->method == "OPTIONS") {
    root = "*";
  } else if (!absl::StartsWith(path_and_query, "/")) {
    root = "/";
  }
  request->target = absl::StrCat(root, path_and_query);
  return std::nullopt;
}

std::optional<Refusal> ApplyTargetForm(Request* request) {
  const std::string& target = request->target;
  if (request->method == "CONNECT") return BadRequest("request line: CONNECT, this is no tunnel");
  if (absl::StrContains(target, '#')) return BadRequest("request line: fragment in the target");
  if (absl::StartsWith(target, "/")) return std::nullopt;
  if (target == "*") {
    if (request->method == "OPTIONS") return std::nullopt;
    return BadRequest("request line: target `*` is for OPTIONS alone");
  }
  if (absl::StartsWithIgnoreCase(target, kHttpScheme)) return ReduceAbsoluteForm(request);
  return BadRequest("request line: target is neither a path nor an http:// URI");
}

std::optional<Refusal> CheckExpect(const Request& request) {
  if (request.minor_version == 0) return std::nullopt;
  for (const Header& field : request.headers) {
    if (absl::EqualsIgnoreCase(field.name, "Expect") &&
        !absl::EqualsIgnoreCase(field.value, "100-continue")) {
      return Refusal{Cause::kBadRequest, "Expect: only `100-continue` is understood"};
    }
  }
  return std::nullopt;
}

}  // namespace

Refusal BadRequest(std::string message) { return Refusal{Cause::kBadRequest, std::move(message)}; }

std::optional<Refusal> ApplyRequestRules(Request* request) {
  if (auto refusal = CheckHost(*request)) return refusal;
  if (auto refusal = ApplyTargetForm(request)) return refusal;
  return CheckExpect(*request);
}

bool ExpectsContinue(const Request& request) {
  return request.minor_version > 0 && request.headers.Find("Expect") != nullptr;
}

bool WantsKeepAlive(const Request& request) {
  if (request.headers.HasToken("Connection", "close")) return false;
  return request.minor_version > 0 || request.headers.HasToken("Connection", "keep-alive");
}

}  // namespace sluice::http
