#include "lib/exchange/endpoint_uri.h"

#include <algorithm>
#include <arpa/inet.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "lib/base/status.h"

namespace sluice {
namespace {

constexpr size_t kMaxHostBytes = 253;  // RFC 1035 section 2.3.4, as text

bool AllOf(absl::string_view text, absl::string_view punctuation) {
  return std::all_of(text.begin(), text.end(), [punctuation](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains(punctuation, c);
  });
}

bool IsIpv6Address(const std::string& text) {
  in6_addr address;
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

absl::Status Invalid(absl::string_view reason) { return absl::InvalidArgumentError(reason); }

absl::StatusOr<uint16_t> ParsePort(absl::string_view digits) {
  uint32_t port = 0;
  if (!AllOf(digits, "") || !absl::SimpleAtoi(digits, &port) || port < 1 || port > 65535) {
    return Invalid(absl::StrCat("port \"", digits, "\" is not a number from 1 to 65535"));
  }
  return static_cast<uint16_t>(port);
}

}  // namespace

absl::StatusOr<EndpointUri> ParseEndpointUri(absl::string_view uri) {
  if (absl::StartsWithIgnoreCase(uri, "https://")) {
    return Invalid("TLS to upstreams is not supported yet; use http://");
  }
  if (!absl::ConsumePrefix(&uri, "http://")) {
    return Invalid("must have the form http://host[:port][/prefix]");
  }
  const size_t path_start = std::min(uri.find_first_of("/?#"), uri.size());
  const absl::string_view authority = uri.substr(0, path_start);
  const absl::string_view path = absl::StripSuffix(uri.substr(path_start), "/");
  if (absl::StrContains(authority, '@')) {
    return Invalid("must not hold a user or a password");
  }

  EndpointUri result;
  absl::string_view after_host;
  if (absl::StartsWith(authority, "[")) {
    const size_t close = authority.find(']');
    if (close == absl::string_view::npos)
      return Invalid("the bracket of the IPv6 address is not closed");
    result.host = std::string(authority.substr(1, close - 1));
    after_host = authority.substr(close + 1);
    if (!IsIpv6Address(result.host)) {
      return Invalid(absl::StrCat("\"", result.host, "\" is not an IPv6 address"));
    }
    result.authority = absl::StrCat("[", result.host, "]");
  } else {
    if (std::count(authority.begin(), authority.end(), ':') > 1) {
      return Invalid("an IPv6 address needs brackets, as in http://[::1]:9000");
    }
    const size_t colon = std::min(authority.find(':'), authority.size());
    result.host = std::string(authority.substr(0, colon));
    after_host = authority.substr(colon);
    if (result.host.empty()) return Invalid("the host is missing");
    if (result.host.size() > kMaxHostBytes || !AllOf(result.host, "-._")) {
      return Invalid("the host is not a name or an address");
    }
    result.authority = result.host;
  }

  if (absl::ConsumePrefix(&after_host, ":")) {
    SLUICE_ASSIGN_OR_RETURN(result.port, ParsePort(after_host));
    if (result.port != 80) absl::StrAppend(&result.authority, ":", result.port);
  } else if (!after_host.empty()) {
    return Invalid("only a port may follow the address");
  }

  if (absl::StrContains(path, '?') || absl::StrContains(path, '#')) {
    return Invalid("must not have a query or a fragment");
  }
  if (!AllOf(path, "-._~!$&'()*+,;=:@/%")) {
    return Invalid("the prefix has bytes that must be percent-encoded");
  }
  result.path_prefix = std::string(path);
  return result;
}

}  // namespace sluice
