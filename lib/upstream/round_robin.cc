#include "lib/upstream/round_robin.h"

namespace sluice::upstream {

std::optional<size_t> PickRoundRobin(uint64_t turn, size_t count,
                                     absl::FunctionRef<bool(size_t)> eligible) {
  for (size_t step = 0; step < count; ++step) {
    const size_t candidate = (turn % count + step) % count;
    if (eligible(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace sluice::upstream
