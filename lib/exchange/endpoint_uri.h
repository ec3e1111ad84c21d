#ifndef SLUICE_LIB_EXCHANGE_ENDPOINT_URI_H_
#define SLUICE_LIB_EXCHANGE_ENDPOINT_URI_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sluice {

/// The parts of an endpoint's address.
struct EndpointUri {
  std::string host;  // a name or an address, without brackets
  uint16_t port = 80;
  std::string path_prefix;  // "" or "/v1": goes before the request's path, never ends in a slash
  std::string
      authority;  // for the Host field: an IPv6 address in brackets, the port unless it is 80
  friend bool operator==(const EndpointUri&, const EndpointUri&) = default;
};

/// Parses `http://host[:port][/prefix]` (RFC 3986 section 3, without userinfo, query and fragment).
/// INVALID_ARGUMENT: the message says what is wrong and how to mend it.
absl::StatusOr<EndpointUri> ParseEndpointUri(absl::string_view uri);

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_ENDPOINT_URI_H_
