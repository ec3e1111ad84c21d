#ifndef SLUICE_LIB_TELEMETRY_HISTOGRAM_H_
#define SLUICE_LIB_TELEMETRY_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lib/base/clock.h"

namespace sluice::telemetry {

/// Counts durations by size, in buckets from 0.1 ms to 10 s. Thread-safe; a reading taken while
/// others record may miss the latest of them.
class Histogram {
 public:
  /// Upper bounds, inclusive; one more bucket holds what is longer.
  static constexpr std::array<Duration, 16> kBounds = {
      std::chrono::microseconds(100),  std::chrono::microseconds(250),
      std::chrono::microseconds(500),  std::chrono::milliseconds(1),
      std::chrono::microseconds(2500), std::chrono::milliseconds(5),
      std::chrono::milliseconds(10),   std::chrono::milliseconds(25),
      std::chrono::milliseconds(50),   std::chrono::milliseconds(100),
      std::chrono::milliseconds(250),  std::chrono::milliseconds(500),
      std::chrono::seconds(1),         std::chrono::milliseconds(2500),
      std::chrono::seconds(5),         std::chrono::seconds(10)};

  struct Reading {
    std::array<uint64_t, kBounds.size() + 1> counts{};  // by bucket, not cumulative
    Duration sum{0};

    uint64_t count() const;
    /// The bound of the bucket that holds the `q`-quantile (0 to 1), Duration::max() if that is
    /// beyond the last bound; 0 when nothing was recorded.
    Duration Quantile(double q) const;
  };

  void Record(Duration duration);
  Reading Read() const;

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<Duration::rep> sum_{0};
};

}  // namespace sluice::telemetry

#endif  // SLUICE_LIB_TELEMETRY_HISTOGRAM_H_
