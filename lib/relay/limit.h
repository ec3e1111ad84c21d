#ifndef SLUICE_LIB_RELAY_LIMIT_H_
#define SLUICE_LIB_RELAY_LIMIT_H_

#include <algorithm>
#include <initializer_list>

#include "lib/base/clock.h"
#include "lib/exchange/cause.h"

namespace sluice::relay {

/// A point in time, and what it means to reach it.
struct Limit {
  Instant at = kNever;
  Cause cause = Cause::kInternal;
};

/// The limit that is reached first; of equal ones the first named.
inline Limit Nearest(std::initializer_list<Limit> limits) {
  return *std::min_element(limits.begin(), limits.end(),
                           [](const Limit& a, const Limit& b) { return a.at < b.at; });
}

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_LIMIT_H_
