#include "lib/http/parking.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"
#include "lib/runtime/loop_threads.h"
#include "tests/support/patience.h"

namespace sluice::http {
namespace {

using std::chrono::steady_clock;

/// Runs `body` as a fiber of a fresh loop, and the loop until every fiber has ended.
void RunFiber(std::function<void()> body) {
  runtime::Loop loop;
  loop.Post([&] { ASSERT_TRUE(loop.Spawn(std::move(body))); });
  loop.Stop();
  loop.Run();
}

TEST(ParkingTest, WakeBeforeParkEndsItAtOnceAndOnlyOnce) {
  RunFiber([] {
    const auto parking = FiberParkingLot().NewParking();
    parking->Wake();
    parking->Wake();
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
    EXPECT_EQ(parking->Park(steady_clock::now()), WaitResult::kDeadline);
  });
}

TEST(ParkingTest, MayBeUsedAgainAfterEachEnd) {
  RunFiber([] {
    const auto parking = FiberParkingLot().NewParking();
    EXPECT_EQ(parking->Park(steady_clock::now()), WaitResult::kDeadline);
    parking->Wake();
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
    EXPECT_EQ(parking->Park(steady_clock::now()), WaitResult::kDeadline);
  });
}

TEST(ParkingTest, WakeOfAnotherFiberEndsThePark) {
  RunFiber([] {
    const auto parking = FiberParkingLot().NewParking();
    ASSERT_TRUE(runtime::Loop::Current()->Spawn([parking] { parking->Wake(); }));
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
  });
}

TEST(ParkingTest, InterruptIsCancelledAndWakeStillCountsAfterIt) {
  RunFiber([] {
    const auto parking = FiberParkingLot().NewParking();
    const runtime::Interrupter interrupter = runtime::Interrupter::Arm();
    ASSERT_TRUE(runtime::Loop::Current()->Spawn([interrupter] { interrupter.Fire(); }));
    EXPECT_EQ(parking->Park(kNever), WaitResult::kCancelled);
    EXPECT_EQ(parking->Park(kNever), WaitResult::kCancelled);
    parking->Wake();
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
  });
}

TEST(ParkingTest, WakeThatComesWithAnInterruptIsNotLost) {
  RunFiber([] {
    const auto parking = FiberParkingLot().NewParking();
    const runtime::Interrupter interrupter = runtime::Interrupter::Arm();
    ASSERT_TRUE(runtime::Loop::Current()->Spawn([&] {
      interrupter.Fire();
      parking->Wake();
    }));
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
  });
}

TEST(ParkingTest, WakesFromAnotherThread) {
  // Two fibers on two loops wake each other in turn: each wake ends one park, or none would end.
  constexpr int kRounds = 1000;
  FiberParkingLot lot;
  const auto left = lot.NewParking();
  const auto right = lot.NewParking();
  std::atomic<int> woken = 0;
  const auto play = [&woken](Parking& own, Parking& other) {
    for (int round = 0; round < kRounds; ++round) {
      if (own.Park(steady_clock::now() + testing::kPatience) == WaitResult::kOk) ++woken;
      other.Wake();
    }
  };
  runtime::LoopThreads threads(2);
  threads.loops()[0]->Post([&] { runtime::Loop::Current()->Spawn([&] { play(*left, *right); }); });
  threads.loops()[1]->Post([&] { runtime::Loop::Current()->Spawn([&] { play(*right, *left); }); });
  left->Wake();
  threads.Join();
  EXPECT_EQ(woken, 2 * kRounds);
}

TEST(ParkingTest, MayBeWokenWhenItsFiberAndItsLoopAreGone) {
  std::shared_ptr<Parking> parking;
  RunFiber([&] {
    parking = FiberParkingLot().NewParking();
    EXPECT_EQ(parking->Park(steady_clock::now()), WaitResult::kDeadline);
  });
  parking->Wake();
}

TEST(ParkingTest, LateWakeDoesNotTouchTheNextUserOfTheFiber) {
  RunFiber([] {
    std::shared_ptr<Parking> old;
    runtime::Latch ended;
    ASSERT_TRUE(runtime::Loop::Current()->Spawn([&] {
      old = FiberParkingLot().NewParking();
      EXPECT_EQ(old->Park(steady_clock::now()), WaitResult::kDeadline);
      ended.Open();
    }));
    ASSERT_EQ(ended.Wait(kNever), runtime::Wake::kReady);
    std::optional<WaitResult::Kind> next;
    const auto parking = FiberParkingLot().NewParking();
    runtime::Latch woken;
    ASSERT_TRUE(runtime::Loop::Current()->Spawn([&] {
      next = parking->Park(kNever);
      woken.Open();
    }));
    runtime::SleepUntil(steady_clock::now());
    old->Wake();
    runtime::SleepUntil(steady_clock::now());
    EXPECT_EQ(next, std::nullopt);
    parking->Wake();
    ASSERT_EQ(woken.Wait(kNever), runtime::Wake::kReady);
  });
}

}  // namespace
}  // namespace sluice::http
