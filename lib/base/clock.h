#ifndef SLUICE_LIB_BASE_CLOCK_H_
#define SLUICE_LIB_BASE_CLOCK_H_

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sluice {

/// Steady time: for intervals, deadlines and stamps. Never shown to people.
using Instant = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

/// A deadline that never comes.
inline constexpr Instant kNever = Instant::max();

/// The only source of time for everything but `lib/runtime` and `lib/http`, so that tests move time
/// instead of waiting for it. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;
  /// Wall time, for display and for records that leave the process.
  virtual absl::Time WallNow() const = 0;
};

class SystemClock final : public Clock {
 public:
  Instant Now() const override { return std::chrono::steady_clock::now(); }
  absl::Time WallNow() const override { return absl::Now(); }
};

/// `start + limit`, or kNever when that overflows or `limit` is negative ("no limit").
inline Instant DeadlineAfter(Instant start, Duration limit) {
  if (limit < Duration::zero() || limit >= kNever - start) return kNever;
  return start + limit;
}

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_CLOCK_H_
