#include "lib/admission/wait_queue.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

#include "tests/admission/fake_parking.h"
#include "tests/support/fake_clock.h"

namespace sluice::admission {
namespace {

using std::chrono::seconds;
using testing::FakeClock;
using testing::FakeParking;
using testing::RunOnLoop;
using testing::Yield;
using Outcome = Ticket::Outcome;

constexpr config::Queue kQueue = {.capacity = 10, .max_wait = seconds(30)};

/// A request in the queue of "p": each Await runs on a fiber of its own.
class Request {
 public:
  Request(WaitQueues& queues, int priority = 0, const config::Queue& queue = kQueue)
      : parking_(std::make_shared<FakeParking>()),
        ticket_(queues.Enter("p", queue, priority, parking_)) {}
  ~Request() {
    if (!parking_->parked()) return;
    parking_->End(WaitResult::kCancelled);
    Yield();
  }

  bool entered() const { return ticket_.has_value(); }

  /// What Await returns at once; nothing when it sleeps.
  std::optional<Outcome> Await(Instant deadline = kNever) {
    outcome_.reset();
    EXPECT_TRUE(
        runtime::Loop::Current()->Spawn([this, deadline] { outcome_ = ticket_->Await(deadline); }));
    Yield();
    return outcome_;
  }
  /// What Await returns after it was woken; nothing when nobody woke it, or it sleeps on.
  std::optional<Outcome> WhenWoken() {
    if (!parking_->parked() || !parking_->woken()) return std::nullopt;
    parking_->Resume();
    Yield();
    return outcome_;
  }
  std::optional<Outcome> End(WaitResult::Kind result) {
    parking_->End(result);
    Yield();
    return outcome_;
  }
  void Leave() { ticket_.reset(); }

  const FakeParking& parking() const { return *parking_; }

 private:
  std::shared_ptr<FakeParking> parking_;
  std::optional<Ticket> ticket_;
  std::optional<Outcome> outcome_;
};

class WaitQueueTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  WaitQueues queues_{clock_};
};

TEST_F(WaitQueueTest, FirstOfAnEmptyQueueTriesAtOnceAndThenWaitsForASignal) {
  RunOnLoop([&] {
    Request a(queues_);
    EXPECT_EQ(a.Await(), Outcome::kTurn) << "what was freed before it came woke nobody";
    EXPECT_EQ(a.Await(), std::nullopt);
    EXPECT_EQ(a.WhenWoken(), std::nullopt);
    queues_.Signal("p");
    EXPECT_EQ(a.WhenWoken(), Outcome::kTurn);
    EXPECT_EQ(a.Await(), std::nullopt) << "one turn for one signal";
  });
}

TEST_F(WaitQueueTest, SignalBetweenTryAndAwaitIsNotLost) {
  RunOnLoop([&] {
    Request a(queues_);
    ASSERT_EQ(a.Await(), Outcome::kTurn);
    queues_.Signal("p");
    EXPECT_EQ(a.Await(), Outcome::kTurn);
  });
}

TEST_F(WaitQueueTest, WakesTheOneThatCameFirstAndNobodyElse) {
  RunOnLoop([&] {
    Request a(queues_), b(queues_), c(queues_);
    a.Await();
    a.Await();
    EXPECT_EQ(b.Await(), std::nullopt);
    EXPECT_EQ(c.Await(), std::nullopt);
    queues_.Signal("p");
    queues_.Signal("p");
    EXPECT_EQ(a.parking().wakes(), 1) << "it is awake already";
    EXPECT_EQ(b.parking().wakes(), 0);
    EXPECT_EQ(c.parking().wakes(), 0);
  });
}

TEST_F(WaitQueueTest, PassesTheWakeUpOnWhenTwoWereFreedAtOnce) {
  RunOnLoop([&] {
    Request a(queues_), b(queues_), c(queues_);
    a.Await();
    a.Await();
    b.Await();
    c.Await();
    queues_.Signal("p");
    queues_.Signal("p");
    ASSERT_EQ(a.WhenWoken(), Outcome::kTurn);
    EXPECT_EQ(b.WhenWoken(), std::nullopt) << "one at a time";
    a.Leave();
    EXPECT_EQ(b.WhenWoken(), Outcome::kTurn);
    EXPECT_EQ(b.Await(), std::nullopt);
    EXPECT_EQ(c.WhenWoken(), std::nullopt) << "b found nothing, so there is nothing for c";
  });
}

TEST_F(WaitQueueTest, HigherPriorityGoesFirst) {
  RunOnLoop([&] {
    Request low(queues_, -1), middle(queues_), high(queues_, 7), later(queues_, 7);
    EXPECT_EQ(low.Await(), std::nullopt) << "the turn is for the first";
    EXPECT_EQ(middle.Await(), std::nullopt);
    EXPECT_EQ(later.Await(), std::nullopt);
    EXPECT_EQ(high.Await(), Outcome::kTurn);
    high.Leave();
    EXPECT_EQ(later.WhenWoken(), Outcome::kTurn);
    later.Leave();
    EXPECT_EQ(middle.WhenWoken(), Outcome::kTurn);
    middle.Leave();
    EXPECT_EQ(low.WhenWoken(), Outcome::kTurn);
  });
}

TEST_F(WaitQueueTest, NewcomerOfHigherPriorityGetsTheTurnOfOneThatIsStillAsleep) {
  RunOnLoop([&] {
    Request low(queues_);
    low.Await();
    low.Await();
    queues_.Signal("p");
    Request high(queues_, 1);
    EXPECT_EQ(low.WhenWoken(), std::nullopt);
    EXPECT_EQ(high.Await(), Outcome::kTurn);
    high.Leave();
    EXPECT_EQ(low.WhenWoken(), Outcome::kTurn);
  });
}

TEST_F(WaitQueueTest, TurnTakenBeforeANewcomerOfHigherPriorityIsPassedOnToIt) {
  RunOnLoop([&] {
    Request low(queues_);
    ASSERT_EQ(low.Await(), Outcome::kTurn);
    Request high(queues_, 1);
    EXPECT_EQ(high.Await(), std::nullopt);
    low.Leave();
    EXPECT_EQ(high.WhenWoken(), Outcome::kTurn);
  });
}

TEST_F(WaitQueueTest, FirstThatIsCancelledOrLateHandsItsWakeUpOn) {
  for (const WaitResult::Kind end : {WaitResult::kCancelled, WaitResult::kDeadline}) {
    RunOnLoop([&] {
      Request a(queues_), b(queues_);
      a.Await();
      a.Await();
      b.Await();
      queues_.Signal("p");
      const Outcome expected =
          end == WaitResult::kCancelled ? Outcome::kCancelled : Outcome::kDeadline;
      EXPECT_EQ(a.End(end), expected);
      EXPECT_EQ(queues_.Depth("p"), 1u) << "its place is gone before its ticket is";
      EXPECT_EQ(b.WhenWoken(), Outcome::kTurn);
    });
  }
}

TEST_F(WaitQueueTest, FirstThatLeavesWithoutAwaitingHandsItsTurnOn) {
  RunOnLoop([&] {
    Request a(queues_), b(queues_);
    EXPECT_EQ(b.Await(), std::nullopt);
    a.Leave();
    EXPECT_EQ(b.WhenWoken(), Outcome::kTurn);
  });
}

TEST_F(WaitQueueTest, WhoLeavesWithoutATurnWakesNobody) {
  RunOnLoop([&] {
    Request a(queues_), b(queues_), c(queues_);
    a.Await();
    a.Await();
    b.Await();
    c.Await();
    b.End(WaitResult::kCancelled);
    a.End(WaitResult::kCancelled);
    EXPECT_EQ(c.parking().wakes(), 0);
    queues_.Signal("p");
    EXPECT_EQ(c.WhenWoken(), Outcome::kTurn);
  });
}

TEST_F(WaitQueueTest, WaitsUntilTheEarlierOfMaxWaitSinceEnterAndTheGivenDeadline) {
  RunOnLoop([&] {
    const Instant entered = clock_.Now();
    Request a(queues_), b(queues_);
    clock_.Advance(seconds(10));
    b.Await();
    EXPECT_EQ(b.parking().deadline(), entered + seconds(30));
    a.Await();
    a.Await(entered + seconds(12));
    EXPECT_EQ(a.parking().deadline(), entered + seconds(12));
  });
}

TEST_F(WaitQueueTest, IsFullAtItsCapacityWhateverThePriority) {
  RunOnLoop([&] {
    const config::Queue two = {.capacity = 2};
    Request a(queues_, 0, two), b(queues_, 0, two);
    EXPECT_TRUE(b.entered());
    EXPECT_FALSE(Request(queues_, 9, two).entered());
    EXPECT_FALSE(Request(queues_, 9, {.capacity = 0}).entered());
    a.Leave();
    EXPECT_TRUE(Request(queues_, 0, two).entered());
  });
}

TEST_F(WaitQueueTest, NobodyWaitsWithoutACapacity) {
  EXPECT_FALSE(queues_.Enter("p", {.capacity = 0}, 0, std::make_shared<FakeParking>()));
}

TEST_F(WaitQueueTest, KnowsEachPoolsDepth) {
  auto parking = std::make_shared<FakeParking>();
  EXPECT_FALSE(queues_.HasWaiters("p"));
  {
    const auto a = queues_.Enter("p", kQueue, 0, parking);
    const auto b = queues_.Enter("p", kQueue, 0, parking);
    EXPECT_EQ(queues_.Depth("p"), 2u);
    EXPECT_TRUE(queues_.HasWaiters("p"));
    EXPECT_FALSE(queues_.HasWaiters("q"));
    queues_.Signal("q");
    EXPECT_EQ(parking->wakes(), 0);
  }
  EXPECT_EQ(queues_.Depth("p"), 0u);
}

TEST_F(WaitQueueTest, TicketThatWasMovedFromLeavesNothing) {
  auto ticket = queues_.Enter("p", kQueue, 0, std::make_shared<FakeParking>());
  auto moved = std::make_unique<Ticket>(*std::move(ticket));
  ticket.reset();
  EXPECT_EQ(queues_.Depth("p"), 1u);
  moved.reset();
  EXPECT_EQ(queues_.Depth("p"), 0u);
}

}  // namespace
}  // namespace sluice::admission
