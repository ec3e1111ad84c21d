#include "lib/http/branches.h"

#include <functional>
#include <memory>
#include <utility>

#include "gtest/gtest.h"

#include "lib/http/parking.h"
#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

/// Runs `body` as a fiber of a fresh loop, and the loop until every fiber has ended.
void RunFiber(std::function<void()> body) {
  runtime::Loop loop;
  loop.Post([&] { ASSERT_TRUE(loop.Spawn(std::move(body))); });
  loop.Stop();
  loop.Run();
}

TEST(BranchesTest, RunsWhileTheOtherWaitsAndMayWaitItself) {
  RunFiber([] {
    FiberBranches branches;
    const auto parking = FiberParkingLot().NewParking();
    runtime::Latch go;
    bool ended = false;
    const std::unique_ptr<Branch> branch = branches.Begin([&] {
      EXPECT_EQ(go.Wait(kNever), runtime::Wake::kReady);
      ended = true;
      parking->Wake();
    });
    EXPECT_FALSE(ended);
    EXPECT_EQ(branches.running(), 1u);
    go.Open();
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
    EXPECT_TRUE(ended);
    EXPECT_EQ(branches.running(), 0u);
  });
}

TEST(BranchesTest, DroppingItEndsItsWaitsAndAwaitsItsEnd) {
  RunFiber([] {
    FiberBranches branches;
    const auto parking = FiberParkingLot().NewParking();
    int interrupted = 0;
    std::unique_ptr<Branch> branch = branches.Begin([&] {
      runtime::Latch never;
      parking->Wake();
      for (int i = 0; i < 2; ++i) {
        if (never.Wait(kNever) == runtime::Wake::kInterrupted) ++interrupted;
      }
      runtime::Yield();
      ++interrupted;
    });
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);  // it waits
    branch = nullptr;
    EXPECT_EQ(interrupted, 3);
  });
}

TEST(BranchesTest, OneThatIsDroppedBeforeItRanDoesNotWait) {
  RunFiber([] {
    FiberBranches branches;
    auto wake = runtime::Wake::kReady;
    branches.Begin([&wake] {
      runtime::Latch never;
      wake = never.Wait(kNever);
    });
    EXPECT_EQ(wake, runtime::Wake::kInterrupted);
  });
}

TEST(BranchesTest, DroppingOneThatEndedLeavesTheFibersNextWorkAlone) {
  RunFiber([] {
    FiberBranches branches;
    const auto parking = FiberParkingLot().NewParking();
    std::unique_ptr<Branch> first = branches.Begin([&parking] { parking->Wake(); });
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
    runtime::Latch go;
    auto wake = runtime::Wake::kDeadline;
    const std::unique_ptr<Branch> second = branches.Begin([&] {
      parking->Wake();
      wake = go.Wait(kNever);
      parking->Wake();
    });
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
    first = nullptr;
    go.Open();
    EXPECT_EQ(parking->Park(kNever), WaitResult::kOk);
    EXPECT_EQ(wake, runtime::Wake::kReady);
  });
}

TEST(BranchesTest, AnInterruptOfTheExchangeIsNoneOfTheBranch) {
  RunFiber([] {
    FiberBranches branches;
    const auto parking = FiberParkingLot().NewParking();
    const runtime::Interrupter interrupter = runtime::Interrupter::Arm();
    runtime::Latch go;
    auto wake = runtime::Wake::kDeadline;
    std::unique_ptr<Branch> branch = branches.Begin([&] {
      interrupter.Fire();
      wake = go.Wait(kNever);
    });
    EXPECT_EQ(parking->Park(kNever), WaitResult::kCancelled);
    go.Open();
    branch = nullptr;
    EXPECT_EQ(wake, runtime::Wake::kReady);
  });
}

}  // namespace
}  // namespace sluice::http
