#include "lib/telemetry/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice::telemetry {

uint64_t Histogram::Reading::count() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

Duration Histogram::Reading::Quantile(double q) const {
  const uint64_t total = count();
  if (total == 0) return Duration(0);
  const uint64_t rank =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(q * static_cast<double>(total))));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    seen += counts[i];
    if (seen >= rank) return kBounds[i];
  }
  return Duration::max();
}

void Histogram::Record(Duration duration) {
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), duration) - kBounds.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(duration.count(), std::memory_order_relaxed);
}

Histogram::Reading Histogram::Read() const {
  Reading reading;
  for (size_t i = 0; i < counts_.size(); ++i) {
    reading.counts[i] = counts_[i].load(std::memory_order_relaxed);
  }
  reading.sum = Duration(sum_.load(std::memory_order_relaxed));
  return reading;
}

}  // namespace sluice::telemetry
