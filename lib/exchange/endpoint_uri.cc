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

constexpr size_t kMaxHostBytes = 253;   // RFC 1035 section 2.3.4, as text
constexpr size_t kMaxSocketPath = 107;  // unix(7): 108 with the NUL that ends it

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

/// `authority` is all between "//" and the path.
absl::Status ParseAuthority(absl::string_view authority, uint16_t default_port, EndpointUri* uri) {
  if (absl::StrContains(authority, '@')) return Invalid("must not hold a user or a password");
  absl::string_view after_host;
  if (absl::StartsWith(authority, "[")) {
    const size_t close = authority.find(']');
    if (close == absl::string_view::npos)
      return Invalid("the bracket of the IPv6 address is not closed");
    uri->host = std::string(authority.substr(1, close - 1));
    after_host = authority.substr(close + 1);
    if (!IsIpv6Address(uri->host)) {
      return Invalid(absl::StrCat("\"", uri->host, "\" is not an IPv6 address"));
    }
    uri->authority = absl::StrCat("[", uri->host, "]");
  } else {
    if (std::count(authority.begin(), authority.end(), ':') > 1) {
      return Invalid("an IPv6 address needs brackets, as in http://[::1]:9000");
    }
    const size_t colon = std::min(authority.find(':'), authority.size());
    uri->host = std::string(authority.substr(0, colon));
    after_host = authority.substr(colon);
    if (uri->host.empty()) return Invalid("the host is missing");
    if (uri->host.size() > kMaxHostBytes || !AllOf(uri->host, "-._")) {
      return Invalid("the host is not a name or an address");
    }
    uri->authority = uri->host;
  }

  uri->port = default_port;
  if (absl::ConsumePrefix(&after_host, ":")) {
    SLUICE_ASSIGN_OR_RETURN(uri->port, ParsePort(after_host));
    if (uri->port != default_port) absl::StrAppend(&uri->authority, ":", uri->port);
  } else if (!after_host.empty()) {
    return Invalid("only a port may follow the address");
  }
  return absl::OkStatus();
}

absl::Status ParseSocketPath(absl::string_view path, EndpointUri* uri) {
  if (!absl::StartsWith(path, "/") || absl::StartsWith(path, "//") || absl::EndsWith(path, "/")) {
    return Invalid("a Unix socket is named by its absolute path, as in unix:/run/engine.sock");
  }
  if (path.size() > kMaxSocketPath) {
    return Invalid(
        absl::StrCat("the path of a Unix socket has at most ", kMaxSocketPath, " bytes"));
  }
  constexpr absl::string_view kPunctuation = "-._~!$&'()*+,;=@/";
  if (!AllOf(path, kPunctuation)) {
    return Invalid(absl::StrCat(
        "the path of the Unix socket has bytes other than letters, digits and ", kPunctuation));
  }
  uri->socket_path = std::string(path);
  uri->authority = "localhost";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EndpointUri> ParseEndpointUri(absl::string_view uri) {
  EndpointUri result;
  const bool https = absl::ConsumePrefix(&uri, "https://");
  const bool unix_socket = !https && absl::ConsumePrefix(&uri, "unix:");
  if (!https && !unix_socket && !absl::ConsumePrefix(&uri, "http://")) {
    return Invalid(
        "must have the form http://host[:port][/prefix][?query], the same with https, or "
        "unix:/path[:/prefix][?query]");
  }
  if (absl::StrContains(uri, '#')) return Invalid("must not have a fragment");
  const size_t query_start = std::min(uri.find('?'), uri.size());
  const absl::string_view query = absl::StripPrefix(uri.substr(query_start), "?");
  absl::string_view path = uri.substr(0, query_start);

  if (unix_socket) {
    result.scheme = EndpointUri::Scheme::kUnix;
    const size_t colon = std::min(path.find(':'), path.size());
    SLUICE_RETURN_IF_ERROR(ParseSocketPath(path.substr(0, colon), &result));
    path.remove_prefix(colon);
    if (absl::ConsumePrefix(&path, ":") && !absl::StartsWith(path, "/")) {
      return Invalid("the prefix behind a Unix socket begins with a slash");
    }
  } else {
    if (https) result.scheme = EndpointUri::Scheme::kHttps;
    const size_t slash = std::min(path.find('/'), path.size());
    SLUICE_RETURN_IF_ERROR(ParseAuthority(path.substr(0, slash), https ? 443 : 80, &result));
    path.remove_prefix(slash);
  }

  path = absl::StripSuffix(path, "/");
  if (!AllOf(path, "-._~!$&'()*+,;=:@/%")) {
    return Invalid("the prefix has bytes that must be percent-encoded");
  }
  if (!AllOf(query, "-._~!$&'()*+,;=:@/?%")) {
    return Invalid("the query has bytes that must be percent-encoded");
  }
  result.path_prefix = std::string(path);
  result.query = std::string(query);
  return result;
}

std::string TargetAt(const EndpointUri& uri, absl::string_view target) {
  if (uri.query.empty()) return absl::StrCat(uri.path_prefix, target);
  const absl::string_view joint = !absl::StrContains(target, '?') ? "?"
                                  : absl::EndsWith(target, "?") || absl::EndsWith(target, "&")
                                      ? ""
                                      : "&";
  return absl::StrCat(uri.path_prefix, target, joint, uri.query);
}

}  // namespace sluice
