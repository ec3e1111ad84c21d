#include "lib/events/hub_observer.h"

#include <chrono>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::events {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class FixedClock final : public Clock {
 public:
  Instant Now() const override { return now; }
  absl::Time WallNow() const override { return absl::UnixEpoch(); }
  Instant now;
};

class HubObserverTest : public ::testing::Test {
 protected:
  HubObserverTest() {
    auto info = std::make_shared<ExchangeInfo>();
    info->id = {0x17};
    info->model = "gpt-4";
    info->pool = "chat";
    info->started = absl::FromUnixSeconds(1000);
    x_.subject = std::make_shared<const Subject>(Subject{.exchange = info});
    x_.stamps.accepted = Instant() + std::chrono::seconds(5);
    clock_.now = x_.stamps.accepted + milliseconds(900);
  }

  Instant After(int ms) const { return x_.stamps.accepted + milliseconds(ms); }

  Attempt& AddAttempt(int index, const std::string& endpoint, int ms) {
    Attempt attempt;
    attempt.index = index;
    attempt.endpoint = endpoint;
    attempt.started = After(ms);
    x_.attempts.push_back(attempt);
    x_.subject = std::make_shared<const Subject>(
        Subject{.exchange = x_.subject->exchange, .endpoint = endpoint, .attempt = index + 1});
    return x_.attempts.back();
  }

  std::vector<Event> Published() { return Reader(hub_, 0).Read().events; }

  Hub hub_;
  FixedClock clock_;
  HubObserver observer_{hub_, clock_};
  const std::shared_ptr<Exchange> exchange_ = std::make_shared<Exchange>();
  Exchange& x_ = *exchange_;
};

TEST_F(HubObserverTest, PublishesTheLifeOfAnExchangeInOrder) {
  observer_.OnStarted(x_);
  Attempt& first = AddAttempt(0, "pools/chat/endpoints/a", 1);
  observer_.OnAttempt(x_, first);
  first.ended = After(2);
  first.failure = Cause::kConnectFailed;
  first.detail = "connection refused";
  observer_.OnAttemptFailed(x_, first);
  observer_.OnAttempt(x_, AddAttempt(1, "pools/chat/endpoints/b", 3));
  x_.http_status = 200;
  x_.stamps.first_byte = After(4);
  observer_.OnFirstByte(x_);
  FrameInfo frame;
  frame.end = 163;
  frame.at = After(5);
  frame.gap = milliseconds(5);
  frame.valid = frame.first_valid = true;
  frame.data = "secret prompt";
  observer_.OnFrame(x_, frame);
  observer_.OnUsage(x_, Usage{5, 2, 7, {}, {}});
  x_.stamps.done = After(6);
  x_.cause = Cause::kCompleted;
  observer_.OnFinished(x_);

  const std::vector<Event> events = Published();
  std::vector<Kind> kinds;
  std::vector<int64_t> since_ms;
  std::vector<int> attempts;
  for (const Event& event : events) {
    kinds.push_back(event.kind());
    since_ms.push_back(event.since_start / milliseconds(1));
    attempts.push_back(event.subject->attempt);
    EXPECT_EQ(event.subject->exchange, x_.subject->exchange);
    EXPECT_EQ(event.time, x_.info().started + absl::FromChrono(event.since_start));
  }
  EXPECT_THAT(kinds,
              ElementsAre(Kind::kExchangeStarted, Kind::kAttemptStarted, Kind::kAttemptFailed,
                          Kind::kAttemptStarted, Kind::kFirstByte, Kind::kFirstFrame, Kind::kChunk,
                          Kind::kUsage, Kind::kExchangeFinished));
  EXPECT_THAT(since_ms, ElementsAre(0, 1, 2, 3, 4, 5, 5, 900, 6));
  EXPECT_THAT(attempts, ElementsAre(0, 1, 1, 2, 2, 2, 2, 2, 2));
  EXPECT_EQ(events[2].subject->endpoint, "pools/chat/endpoints/a");
  EXPECT_EQ(events[6].subject->endpoint, "pools/chat/endpoints/b");

  const auto& failed = *std::get<std::shared_ptr<const AttemptFailed>>(events[2].what);
  EXPECT_EQ(failed.cause, Cause::kConnectFailed);
  EXPECT_EQ(failed.detail, "connection refused");
  EXPECT_EQ(std::get<FirstByte>(events[4].what).http_status, 200);
  EXPECT_EQ(std::get<Chunk>(events[6].what).size_bytes, 163u);
  EXPECT_EQ(std::get<Chunk>(events[6].what).gap, milliseconds(5));
  EXPECT_EQ(std::get<std::shared_ptr<const UsageReported>>(events[7].what)->usage.total_tokens, 7);
  EXPECT_EQ(std::get<std::shared_ptr<const Exchange>>(events[8].what), exchange_);
}

TEST_F(HubObserverTest, ReportsTheFirstFrameOnlyOnce) {
  observer_.OnStarted(x_);
  FrameInfo frame;
  frame.first_valid = true;
  observer_.OnFrame(x_, frame);
  frame.first_valid = false;
  frame.index = 1;
  frame.start = 10;
  frame.end = 25;
  observer_.OnFrame(x_, frame);
  const std::vector<Event> events = Published();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[1].kind(), Kind::kFirstFrame);
  EXPECT_EQ(events[2].kind(), Kind::kChunk);
  EXPECT_EQ(events[3].kind(), Kind::kChunk);
  EXPECT_EQ(std::get<Chunk>(events[3].what).index, 1u);
  EXPECT_EQ(std::get<Chunk>(events[3].what).size_bytes, 15u);
}

}  // namespace
}  // namespace sluice::events
