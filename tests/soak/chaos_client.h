#ifndef SLUICE_TESTS_SOAK_CHAOS_CLIENT_H_
#define SLUICE_TESTS_SOAK_CHAOS_CLIENT_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "absl/strings/string_view.h"

namespace sluice::testing {

/// What is wrong with what a client got of stream `stream`, or "": its events are the stream's own,
/// in order from the first, each whole; then at most one error, or `[DONE]` and nothing but the one
/// of them. `whole`: the answer came to its end.
std::string FaultOf(absl::string_view body, uint64_t stream, bool whole);

/// One client after another against a gateway: reads all, or leaves in one of five ways. Confined
/// to one thread.
class ChaosClient {
 public:
  ChaosClient(uint16_t port, uint64_t seed) : port_(port), random_(seed) {}

  /// One exchange. What was wrong with it, or "".
  std::string Run(uint64_t stream);

  /// How many exchanges ended how, from the client's side.
  const std::map<std::string, uint64_t>& ends() const { return ends_; }

 private:
  const uint16_t port_;
  std::mt19937_64 random_;
  std::map<std::string, uint64_t> ends_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SOAK_CHAOS_CLIENT_H_
