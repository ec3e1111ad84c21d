#ifndef SLUICE_TESTS_SUPPORT_FAKE_RANDOM_H_
#define SLUICE_TESTS_SUPPORT_FAKE_RANDOM_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "lib/base/random.h"

namespace sluice::testing {

/// The same numbers in every run (SplitMix64), but for those a test puts before them.
class FakeRandom final : public Random {
 public:
  explicit FakeRandom(uint64_t seed = 1) : state_(seed) {}

  /// The numbers that come next. For Unit, `u` is `u * 2^64`.
  void Script(std::deque<uint64_t> next) { script_ = std::move(next); }

  uint64_t Next() override {
    if (!script_.empty()) {
      const uint64_t next = script_.front();
      script_.pop_front();
      return next;
    }
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
  std::deque<uint64_t> script_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FAKE_RANDOM_H_
