#ifndef SLUICE_TESTS_ADMISSION_FAKE_PARKING_H_
#define SLUICE_TESTS_ADMISSION_FAKE_PARKING_H_

#include <functional>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

#include "lib/exchange/seams.h"
#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"

namespace sluice::testing {

/// Parks a fiber until the test says so: one that was woken sleeps on until Resume, so that a test
/// decides what happens in between. Everything on one loop.
class FakeParking final : public Parking {
 public:
  WaitResult::Kind Park(Instant deadline) override {
    if (std::exchange(woken_, false)) return WaitResult::kOk;
    deadline_ = deadline;
    latch_.emplace();
    latch_->Wait(kNever, runtime::Interrupts::kIgnore);
    latch_.reset();
    return result_;
  }
  void Wake() override {
    ++wakes_;
    woken_ = true;
  }

  bool parked() const { return latch_.has_value() && !latch_->is_open(); }
  bool woken() const { return woken_; }
  int wakes() const { return wakes_; }
  Instant deadline() const { return deadline_; }

  /// Ends the wait of a parked fiber that was woken.
  void Resume() {
    woken_ = false;
    End(WaitResult::kOk);
  }
  void End(WaitResult::Kind result) {
    result_ = result;
    latch_->Open();
  }

 private:
  std::optional<runtime::Latch> latch_;  // while a fiber waits
  Instant deadline_ = kNever;
  WaitResult::Kind result_ = WaitResult::kOk;
  bool woken_ = false;
  int wakes_ = 0;
};

/// Runs `body` as a fiber of a loop, and then whatever it started.
inline void RunOnLoop(std::function<void()> body) {
  runtime::Loop loop;
  loop.Post([&] { ASSERT_TRUE(loop.Spawn(std::move(body))); });
  loop.Stop();
  loop.Run();
}

/// Lets every fiber run that is ready.
inline void Yield() { runtime::SleepUntil(Instant::min(), runtime::Interrupts::kIgnore); }

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_ADMISSION_FAKE_PARKING_H_
