#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "lib/admission/slots.h"
#include "lib/admission/wait_queue.h"
#include "tests/admission/fake_parking.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_random.h"
#include "tests/support/patience.h"

/// A pool's slots with a queue before them, used as an exchange does, under random faults.
namespace sluice::admission {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeParking;
using testing::Yield;

constexpr config::Queue kQueue = {.capacity = 8, .max_wait = seconds(2)};

class World;

/// One request on its fiber. It sleeps at each step until the test lets it go on.
class Request {
 public:
  using Rank = std::pair<int, int>;  // negated priority, number: the least is the first

  Request(World& world, Rank rank) : world_(world), rank_(rank) {}
  void Start(Ticket ticket, std::shared_ptr<FakeParking> parking);
  void TakeAtOnce(Slot slot) { slot_ = std::move(slot); }

  bool waits() const { return waits_; }
  bool asleep() const { return waits_ && parking_->parked(); }
  bool late() const;
  bool runs() const { return !waits_ && slot_.has_value(); }
  /// Whether it would go on if it were scheduled.
  bool ready() const {
    return waits_ && (parking_->parked() ? parking_->woken() : at_gate_.has_value());
  }

  void GoOn() {
    if (asleep()) {
      parking_->Resume();
    } else {
      at_gate_->Open();
    }
    Yield();
  }
  void EndSleep(WaitResult::Kind result) {
    parking_->End(result);
    Yield();
  }
  void CancelAtGate() {
    cancelled_ = true;
    GoOn();
  }
  void Finish() { slot_.reset(); }

 private:
  /// Lets the others go on before the next step; false when it was cancelled meanwhile.
  bool PassGate();
  void Wait(Ticket ticket);

  World& world_;
  const Rank rank_;
  std::shared_ptr<FakeParking> parking_;
  std::optional<runtime::Latch> at_gate_;
  std::optional<Slot> slot_;
  bool waits_ = false;
  bool cancelled_ = false;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        return Arrive();
      case 2:
      case 3:
        return With(&Request::ready, [](Request& r) { r.GoOn(); });
      case 4:
        return With(&Request::runs, [](Request& r) { r.Finish(); });
      case 5:
        if (random_.Below(2) == 0) {
          return With(&Request::asleep, [](Request& r) { r.EndSleep(WaitResult::kCancelled); });
        }
        return With(&Request::ready, [](Request& r) {
          if (!r.asleep()) r.CancelAtGate();
        });
      case 6:
        clock_.Advance(milliseconds(random_.Below(300)));
        return With(&Request::late, [](Request& r) { r.EndSleep(WaitResult::kDeadline); });
      case 7:
        if (random_.Below(4) != 0) return;
        limit_ = static_cast<int>(random_.Below(4)) + 1;
        queues_.Signal("p");
        ++signals_;
    }
  }

  /// Lets whoever was woken go on until all sleep, and checks what must hold then.
  void ComeToRest() {
    for (bool moved = true; std::exchange(moved, false);) {
      With(&Request::ready, [&](Request& r) {
        r.GoOn();
        moved = true;
      });
    }
    EXPECT_EQ(slots_.Read("p"), Count(&Request::runs));
    EXPECT_EQ(queues_.Depth("p"), static_cast<size_t>(Count(&Request::waits)));
    EXPECT_TRUE(slots_.Read("p") >= limit_ || !queues_.HasWaiters("p"))
        << "somebody sleeps beside a free slot";
    int wakes = 0;
    for (const auto& parking : parkings_) wakes += parking->wakes();
    EXPECT_LE(wakes, signals_ + departures_) << "more were woken than there was reason for";
    requests_.erase(std::remove_if(requests_.begin(), requests_.end(),
                                   [](const auto& r) { return !r->waits() && !r->runs(); }),
                    requests_.end());
  }

  void End() {
    limit_ = 4;
    queues_.Signal("p");
    ++signals_;
    while (!requests_.empty()) {
      ComeToRest();
      With(&Request::runs, [](Request& r) { r.Finish(); });
      if (::testing::Test::HasFailure()) {
        With(&Request::asleep, [](Request& r) { r.EndSleep(WaitResult::kCancelled); });
      }
    }
    EXPECT_EQ(slots_.Read("p"), 0);
    EXPECT_EQ(queues_.Depth("p"), 0u);
  }

 private:
  friend class Request;

  void Arrive() {
    const int priority = static_cast<int>(random_.Below(3));
    auto request = std::make_unique<Request>(*this, Request::Rank{-priority, ++arrived_});
    if (!queues_.HasWaiters("p")) {
      if (std::optional<Slot> slot = slots_.TryTake("p", limit_)) {
        EXPECT_TRUE(waiting_.empty()) << "a newcomer overtakes";
        request->TakeAtOnce(*std::move(slot));
        requests_.push_back(std::move(request));
        return;
      }
    }
    auto parking = std::make_shared<FakeParking>();
    std::optional<Ticket> ticket = queues_.Enter("p", kQueue, priority, parking);
    EXPECT_EQ(ticket.has_value(), waiting_.size() < 8u);
    if (!ticket) return;
    parkings_.push_back(parking);
    request->Start(*std::move(ticket), std::move(parking));
    requests_.push_back(std::move(request));
  }

  /// Does `act` to one of those for whom `holds`, if there are any.
  void With(bool (Request::*holds)() const, const std::function<void(Request&)>& act) {
    std::vector<Request*> found;
    for (const auto& request : requests_) {
      if ((request.get()->*holds)()) found.push_back(request.get());
    }
    if (!found.empty()) act(*found[random_.Below(found.size())]);
  }
  int Count(bool (Request::*holds)() const) const {
    return static_cast<int>(std::count_if(requests_.begin(), requests_.end(),
                                          [&](const auto& r) { return (r.get()->*holds)(); }));
  }

  testing::FakeRandom random_;
  testing::FakeClock clock_;
  WaitQueues queues_{clock_};
  Slots slots_{[this](absl::string_view name) {
    ++signals_;
    queues_.Signal(name);
  }};
  int limit_ = 2;
  int arrived_ = 0;
  int signals_ = 0;
  int departures_ = 0;
  std::set<Request::Rank> waiting_;
  std::vector<std::shared_ptr<FakeParking>> parkings_;
  std::vector<std::unique_ptr<Request>> requests_;
};

bool Request::late() const { return asleep() && parking_->deadline() <= world_.clock_.Now(); }

void Request::Start(Ticket ticket, std::shared_ptr<FakeParking> parking) {
  parking_ = std::move(parking);
  waits_ = true;
  world_.waiting_.insert(rank_);
  auto shared = std::make_shared<Ticket>(std::move(ticket));  // a std::function must be copyable
  ASSERT_TRUE(runtime::Loop::Current()->Spawn([this, shared]() mutable {
    Wait(std::move(*std::exchange(shared, nullptr)));
    waits_ = false;
  }));
  Yield();
}

void Request::Wait(Ticket ticket) {
  while (ticket.Await(kNever) == Ticket::Outcome::kTurn) {
    EXPECT_EQ(*world_.waiting_.begin(), rank_) << "out of order";
    if (!PassGate()) break;
    slot_ = world_.slots_.TryTake("p", world_.limit_);
    if (slot_.has_value()) {
      if (!PassGate()) slot_.reset();
      break;
    }
  }
  world_.waiting_.erase(rank_);
  ++world_.departures_;
}

bool Request::PassGate() {
  at_gate_.emplace();
  at_gate_->Wait(kNever, runtime::Interrupts::kIgnore);
  at_gate_.reset();
  return !cancelled_;
}

TEST(QueuedSlotsTest, SlotsComeBackNobodySleepsBesideAFreeOneAndOrderIsKept) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    testing::RunOnLoop([seed] {
      World world(seed);
      for (int round = 0; round < 40; ++round) {
        for (int step = 0; step < 10; ++step) world.Step();
        world.ComeToRest();
      }
      world.End();
    });
    if (::testing::Test::HasFailure()) return;
  }
}

/// Parks a thread.
class ThreadParking final : public Parking {
 public:
  WaitResult::Kind Park(Instant) override {
    MutexLock lock(&mutex_);
    const bool woken =
        wake_.WaitFor(&mutex_, testing::kPatience,
                      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return woken_; });
    woken_ = false;
    return woken ? WaitResult::kOk : WaitResult::kDeadline;
  }
  void Wake() override {
    MutexLock lock(&mutex_);
    woken_ = true;
    wake_.NotifyOne();
  }

 private:
  Mutex mutex_;
  CondVar wake_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(QueuedSlotsTest, ManyThreadsAllGetTheirTurn) {
  constexpr int kThreads = 8;
  constexpr int kLimit = 2;
  testing::FakeClock clock;
  WaitQueues queues(clock);
  Slots slots([&](absl::string_view name) { queues.Signal(name); });
  std::atomic<int> running = 0;
  std::atomic<int> late = 0;
  std::atomic<bool> over = false;
  const auto take = [&](int priority) {
    std::optional<Slot> slot;
    if (!queues.HasWaiters("p")) slot = slots.TryTake("p", kLimit);
    if (slot) return slot;
    auto ticket = queues.Enter("p", kQueue, priority, std::make_shared<ThreadParking>());
    while (!slot && ticket->Await(kNever) == Ticket::Outcome::kTurn) {
      slot = slots.TryTake("p", kLimit);
    }
    return slot;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 2000 && late == 0; ++round) {
        const std::optional<Slot> slot = take(i % 2);
        if (!slot) ++late;
        if (++running > kLimit) over = true;
        std::this_thread::yield();
        --running;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(late, 0) << "a wake-up was lost";
  EXPECT_FALSE(over);
  EXPECT_EQ(slots.Read("p"), 0);
  EXPECT_FALSE(queues.HasWaiters("p"));
}

}  // namespace
}  // namespace sluice::admission
