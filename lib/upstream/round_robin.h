#ifndef SLUICE_LIB_UPSTREAM_ROUND_ROBIN_H_
#define SLUICE_LIB_UPSTREAM_ROUND_ROBIN_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"

namespace sluice::upstream {

/// Round robin: of `count` candidates in a ring, the first eligible one at or after place `turn %
/// count`; nothing when none is eligible. Keeps no state, so it is as deterministic and as
/// thread-safe as `eligible`.
std::optional<size_t> PickRoundRobin(uint64_t turn, size_t count,
                                     absl::FunctionRef<bool(size_t)> eligible);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_ROUND_ROBIN_H_
