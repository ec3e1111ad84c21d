#ifndef SLUICE_LIB_EXCHANGE_ENDPOINT_URI_H_
#define SLUICE_LIB_EXCHANGE_ENDPOINT_URI_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sluice {

/// The parts of an endpoint's address.
struct EndpointUri {
  enum class Scheme { kHttp, kHttps, kUnix };
  Scheme scheme = Scheme::kHttp;
  std::string host = "";  // a name or an address, without brackets; "" for kUnix
  uint16_t port = 80;     // of no meaning for kUnix
  std::string path_prefix =
      "";                  // "" or "/v1": goes before the request's path, never ends in a slash
  std::string query = "";  // "" or "api-version=2024-06-01": goes behind the request's own
  /// For the Host field: an IPv6 address in brackets, the port unless it is the scheme's default;
  /// "localhost" for kUnix.
  std::string authority = "";
  std::string socket_path = "";  // absolute, for kUnix alone
  friend bool operator==(const EndpointUri&, const EndpointUri&) = default;
};

/// Parses `http://host[:port][/prefix][?query]`, the same with `https` (RFC 3986 section 3, without
/// userinfo and fragment; the default ports are 80 and 443), and a Unix socket that speaks plain
/// HTTP, `unix:/absolute/path[:/prefix][?query]`. The path of a socket is taken as it is and has no
/// colon. INVALID_ARGUMENT: the message says what is wrong and how to mend it.
absl::StatusOr<EndpointUri> ParseEndpointUri(absl::string_view uri);

/// What a request for `target` ("/chat?x=1") asks for at `uri`: "/v1/chat?x=1&api-version=...".
std::string TargetAt(const EndpointUri& uri, absl::string_view target);

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_ENDPOINT_URI_H_
