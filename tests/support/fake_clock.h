#ifndef SLUICE_TESTS_SUPPORT_FAKE_CLOCK_H_
#define SLUICE_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>

#include "absl/time/time.h"

#include "lib/base/clock.h"

namespace sluice::testing {

/// Time that stands still until a test moves it. Thread-safe.
class FakeClock final : public Clock {
 public:
  Instant Now() const override { return Instant(Duration(elapsed_.load())); }
  absl::Time WallNow() const override {
    return absl::FromUnixSeconds(1'800'000'000) + absl::FromChrono(Duration(elapsed_.load()));
  }

  void Advance(Duration by) { elapsed_.fetch_add(by.count()); }
  void AdvanceTo(Instant to) {
    if (to > Now()) Advance(to - Now());
  }

 private:
  std::atomic<Duration::rep> elapsed_{Duration(std::chrono::hours(1)).count()};
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FAKE_CLOCK_H_
