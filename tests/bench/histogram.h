#ifndef SLUICE_TESTS_BENCH_HISTOGRAM_H_
#define SLUICE_TESTS_BENCH_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::bench {

/// Counts of latencies in steps of 1/128 of a power of two: within 0.4 %, of any size, in fixed
/// memory.
class Histogram {
 public:
  void Add(int64_t ns) {
    ++counts_[Index(std::max<int64_t>(ns, 1))];
    ++total_;
  }
  double QuantileUs(double q) const {
    auto rank = static_cast<int64_t>(q * static_cast<double>(total_));
    for (size_t i = 0; i < counts_.size(); ++i) {
      rank -= counts_[i];
      if (rank < 0) return static_cast<double>(Value(i)) / 1000.0;
    }
    return 0;
  }
  int64_t total() const { return total_; }

 private:
  static size_t Index(int64_t ns) {
    const int power = 63 - __builtin_clzll(static_cast<uint64_t>(ns));
    const int64_t part = power >= kBits ? (ns >> (power - kBits)) & (kSteps - 1) : 0;
    return static_cast<size_t>(power * kSteps + part);
  }
  /// The middle of the step.
  static int64_t Value(size_t index) {
    const int64_t power = static_cast<int64_t>(index) / kSteps;
    if (power < kBits) return int64_t{1} << power;
    const int64_t width = int64_t{1} << (power - kBits);
    return (kSteps + static_cast<int64_t>(index) % kSteps) * width + width / 2;
  }
  static constexpr int kBits = 7;
  static constexpr int64_t kSteps = 1 << kBits;
  std::array<int64_t, 64 * kSteps> counts_{};
  int64_t total_ = 0;
};

}  // namespace sluice::bench

#endif  // SLUICE_TESTS_BENCH_HISTOGRAM_H_
