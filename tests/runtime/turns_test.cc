#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"
#include "tests/runtime/fiber_fixture.h"

// Who goes first, and on which stack.

namespace sluice::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TEST(YieldTest, LetsEachFiberThatCanRunGoFirst) {
  std::vector<int> order;
  RunFiber([&] {
    Loop::Current()->Spawn([&] { order.push_back(2); });
    Loop::Current()->Spawn([&] { order.push_back(3); });
    order.push_back(1);
    Yield();
    order.push_back(4);
  });
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

TEST(YieldTest, LetsTheNewsOfSocketsGoFirst) {
  std::vector<std::string> order;
  RunFiber([&] {
    Pair first;
    Pair second;
    Loop::Current()->Spawn([&] {
      char byte;
      first.ours->Read(&byte, 1);  // finds nothing yet
      first.ours->WaitReadable(kNever);
      order.push_back("first");
      second.Send("x");
    });
    Latch done;
    Loop::Current()->Spawn([&] {
      char byte;
      second.ours->Read(&byte, 1);
      second.ours->WaitReadable(kNever);
      order.push_back("second");
      done.Open();
    });
    SleepUntil(In(milliseconds(0)));
    first.Send("x");
    Yield();
    order.push_back("who yielded");
    done.Wait(kNever);
  });
  EXPECT_THAT(order, ElementsAre("first", "second", "who yielded"));
}

TEST(YieldTest, EndsWhileOthersAreAlwaysReady) {
  bool went_on = false;
  RunFiber([&] {
    Loop::Current()->Spawn([&] {
      Pair busy;
      busy.Send("x");
      while (!went_on) busy.ours->WaitReadable(kNever);
    });
    Yield();
    went_on = true;
  });
  EXPECT_TRUE(went_on);
}

/// How often the loop rests when so many of three fibers say once that more may come.
uint64_t RestsOf(int hurried) {
  uint64_t rests = 0;
  RunFiber([&] {
    SleepUntil(In(milliseconds(0)));
    Loop* loop = Loop::Current();
    for (int i = 0; i < 3; ++i) {
      loop->Spawn([i, hurried] {
        if (i < hurried) LetMoreCome();
        SleepUntil(In(milliseconds(1)));
      });
    }
    SleepUntil(In(milliseconds(100)));
    rests = loop->rests();
  });
  return rests;
}

TEST(LetMoreComeTest, RestsOnceAfterATurnInWhichMostFibersSaidSo) {
  EXPECT_EQ(RestsOf(3), 1u);
  EXPECT_EQ(RestsOf(2), 1u);
}

TEST(LetMoreComeTest, DoesNotRestForAFewAmongOthers) {
  EXPECT_EQ(RestsOf(0), 0u);
  EXPECT_EQ(RestsOf(1), 0u);
}

TEST(LetMoreComeTest, DoesNotRestWhileAnybodyIsReady) {
  uint64_t rests = 1;
  RunFiber([&] {
    LetMoreCome();
    Loop::Current()->Spawn([] {});
    Yield();
    rests = Loop::Current()->rests();
  });
  EXPECT_EQ(rests, 0u);
}

TEST(RunOnLoopStackTest, RunsOffTheFibersStackAndComesBack) {
  std::ptrdiff_t distance = 0;
  Wake after = Wake::kReady;
  RunFiber([&] {
    const auto* on_fiber = static_cast<const char*>(__builtin_frame_address(0));
    RunOnLoopStack([&] {
      distance = std::abs(static_cast<const char*>(__builtin_frame_address(0)) - on_fiber);
    });
    after = SleepUntil(In(milliseconds(0)));
  });
  EXPECT_GT(distance, static_cast<std::ptrdiff_t>(LoopOptions().stack_bytes));
  EXPECT_EQ(after, Wake::kDeadline);
}

TEST(RunOnLoopStackTest, WhatTheWorkThrowsComesOutOnTheFiber) {
  std::string caught;
  RunFiber([&] {
    try {
      RunOnLoopStack([] { throw std::runtime_error("no more"); });
    } catch (const std::exception& error) {
      caught = error.what();
    }
  });
  EXPECT_EQ(caught, "no more");
}

}  // namespace
}  // namespace sluice::runtime
