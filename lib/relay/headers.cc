#include "lib/relay/headers.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "lib/base/ids.h"

namespace sluice::relay {
namespace {

template <typename Names>
bool IsOneOf(absl::string_view name, const Names& names) {
  return std::any_of(std::begin(names), std::end(names), [name](absl::string_view candidate) {
    return absl::EqualsIgnoreCase(name, candidate);
  });
}

// RFC 9110 section 7.6.1, with the old `Keep-Alive` and `Proxy-Connection` it mentions.
constexpr absl::string_view kHopByHop[] = {"Connection", "Keep-Alive",        "TE",
                                           "Trailer",    "Transfer-Encoding", "Upgrade"};

bool IsHopByHop(absl::string_view name) {
  return IsOneOf(name, kHopByHop) || absl::StartsWithIgnoreCase(name, "Proxy-");
}

// Said anew by whoever sends the request, or (`Expect`) answered already.
constexpr absl::string_view kSetByTransport[] = {"Host", "Content-Length", "Expect"};

// cpp-httplib tells a handler the addresses under these names; sent by a client they are forgeries.
constexpr absl::string_view kPseudoHeaders[] = {"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR",
                                                "LOCAL_PORT"};

constexpr absl::string_view kCredentials[] = {"Authorization", "x-api-key", "api-key",
                                              "x-goog-api-key", "Cookie"};

void RemoveHopByHop(HeaderList& headers) {
  std::vector<std::string> named;
  for (const Header& field : headers) {
    if (!absl::EqualsIgnoreCase(field.name, "Connection")) continue;
    for (const absl::string_view token : absl::StrSplit(field.value, ',')) {
      named.emplace_back(absl::StripAsciiWhitespace(token));
    }
  }
  headers.RemoveIf([&named](const Header& field) {
    return IsHopByHop(field.name) || IsOneOf(field.name, named);
  });
}

bool IsLowerHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

bool IsAllZero(absl::string_view text) {
  return text.find_first_not_of('0') == absl::string_view::npos;
}

void ContinueOrStartTrace(HeaderList& headers) {
  const std::string* parent = headers.Find("traceparent");
  if (headers.Count("traceparent") == 1 && IsValidTraceparent(*parent)) return;
  headers.Remove("tracestate");
  // Flags 00: whether to sample is not decided here.
  headers.Set("traceparent",
              absl::StrCat("00-", RandomTraceId(), "-", RandomTraceId().substr(0, 16), "-00"));
}

}  // namespace

bool IsValidTraceparent(absl::string_view value) {
  constexpr size_t kLength = 55;  // of version 00; later versions may append `-...`
  if (value.size() < kLength) return false;
  const absl::string_view version = value.substr(0, 2);
  const absl::string_view trace_id = value.substr(3, 32);
  const absl::string_view parent_id = value.substr(36, 16);
  const absl::string_view flags = value.substr(53, 2);
  if (value[2] != '-' || value[35] != '-' || value[52] != '-') return false;
  if (value.size() > kLength && (version == "00" || value[kLength] != '-')) return false;
  return version != "ff" && IsLowerHex(version) && IsLowerHex(trace_id) && !IsAllZero(trace_id) &&
         IsLowerHex(parent_id) && !IsAllZero(parent_id) && IsLowerHex(flags);
}

std::string ChooseRequestId(const HeaderList& client, absl::string_view fallback) {
  const std::string* theirs = client.Find("X-Request-Id");
  if (client.Count("X-Request-Id") == 1 && IsSaneRequestId(*theirs)) return *theirs;
  return std::string(fallback);
}

OutboundRequest PrepareOutbound(const Request& request, absl::string_view request_id,
                                config::Credentials credentials) {
  OutboundRequest outbound{request.method, request.target, request.headers, request.body};
  HeaderList& headers = outbound.headers;
  RemoveHopByHop(headers);
  headers.RemoveIf([credentials](const Header& field) {
    return IsOneOf(field.name, kSetByTransport) || IsOneOf(field.name, kPseudoHeaders) ||
           (credentials == config::Credentials::kReplace && IsOneOf(field.name, kCredentials));
  });
  headers.Set("Accept-Encoding", "identity");
  headers.Set("X-Request-Id", request_id);
  ContinueOrStartTrace(headers);
  return outbound;
}

void PrepareAnswerHead(absl::string_view request_id, ResponseHead& head) {
  RemoveHopByHop(head.headers);
  head.headers.Remove("X-Request-Id");
  head.headers.Add("X-Request-Id", request_id);
}

}  // namespace sluice::relay
