#ifndef SLUICE_LIB_EXCHANGE_GAP_HISTOGRAM_H_
#define SLUICE_LIB_EXCHANGE_GAP_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lib/base/clock.h"
#include "lib/exchange/published.h"

namespace sluice {

/// The times between the frames of one exchange, sorted by length. One thread adds, any may read.
class GapHistogram {
 public:
  /// Upper bounds, inclusive; one more bucket holds what is longer.
  static constexpr std::array<Duration, 15> kBounds = {
      std::chrono::milliseconds(1),   std::chrono::milliseconds(2),
      std::chrono::milliseconds(5),   std::chrono::milliseconds(10),
      std::chrono::milliseconds(20),  std::chrono::milliseconds(50),
      std::chrono::milliseconds(100), std::chrono::milliseconds(200),
      std::chrono::milliseconds(500), std::chrono::seconds(1),
      std::chrono::seconds(2),        std::chrono::seconds(5),
      std::chrono::seconds(10),       std::chrono::seconds(30),
      std::chrono::seconds(60)};
  static constexpr size_t kBuckets = kBounds.size() + 1;

  void Add(Duration gap) {
    counts_[std::lower_bound(kBounds.begin(), kBounds.end(), gap) - kBounds.begin()] += 1;
  }
  uint32_t count(size_t bucket) const { return counts_[bucket]; }

 private:
  std::array<Published<uint32_t>, kBuckets> counts_{};
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_GAP_HISTOGRAM_H_
