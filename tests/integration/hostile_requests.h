#ifndef SLUICE_TESTS_INTEGRATION_HOSTILE_REQUESTS_H_
#define SLUICE_TESTS_INTEGRATION_HOSTILE_REQUESTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice::testing {

/// A whole request that must never be run as one: hidden in bodies, and put behind what is refused.
inline constexpr absl::string_view kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: g\r\n\r\n";

/// A request of a client that wants two readers to disagree, and the only outcome that is right.
struct HostileRequest {
  std::string family;    // what is odd about it
  std::string bytes;     // what the client sends on a connection of its own
  int status = 0;        // of the refusal; 0: it passes
  std::string upstream;  // of one that passes: what the upstream gets, byte for byte
};

/// `count` requests, the same on every run: each family in turn, with the odd field at the front,
/// in the middle or at the end, names in any case, and other choices at random. `upstream_host` is
/// the authority of the only endpoint.
std::vector<HostileRequest> HostileRequests(size_t count, absl::string_view upstream_host);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_HOSTILE_REQUESTS_H_
