#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"

#include "lib/base/ids.h"
#include "server/resume_token.h"
#include "tests/server/watch_fixture.h"

namespace sluice::server {
namespace {

TEST_F(WatchTest, RespondsAtOnceWithAToken) {
  Start();
  Publish(3);
  auto watch = Follow();
  ASSERT_TRUE(watch->Read());
  EXPECT_EQ(watch->last.events_size(), 0);
  EXPECT_FALSE(watch->last.has_lost());
  EXPECT_EQ(ParseResumeToken(watch->token), (ResumeToken{BootEpoch(), 3}));
}

TEST_F(WatchTest, ShowsNewEventsInOrder) {
  Start();
  Publish(3);
  auto watch = Follow();
  ASSERT_TRUE(watch->Read());
  Publish(500);
  watch->ReadUntilTold(500);
  EXPECT_EQ(watch->sequences, Range(4, 503));
  EXPECT_EQ(watch->last.events(watch->last.events_size() - 1).chunk().index(), 502);
}

TEST_F(WatchTest, ResumesWithoutLossOrDuplicates) {
  Start();
  auto first = Follow();
  ASSERT_TRUE(first->Read());
  Publish(300);
  first->ReadUntilTold(100);  // somewhere in the middle
  EXPECT_EQ(first->Cancel().error_code(), grpc::StatusCode::CANCELLED);
  Publish(300);
  auto second = Follow(first->token);
  second->ReadUntilTold(600 - static_cast<int64_t>(first->sequences.size()));
  std::vector<int64_t> all = first->sequences;
  all.insert(all.end(), second->sequences.begin(), second->sequences.end());
  EXPECT_EQ(all, Range(1, 600));
}

TEST_F(WatchTest, TellsOfARestartAndGoesOnWithTheEventsOfThisRun) {
  Start();
  Publish(5);
  auto watch = Follow(ToString({BootEpoch() + 1, 1000}));
  ASSERT_TRUE(watch->Read());
  EXPECT_EQ(watch->last.lost().reason(), pb::Lost::REASON_RESTARTED);
  EXPECT_EQ(watch->last.events_size(), 0);
  watch->ReadUntilTold(5);
  EXPECT_EQ(watch->sequences, Range(1, 5));
}

TEST_F(WatchTest, TellsExactlyHowManyEventsAResumeHasMissed) {
  Start({}, 10);
  auto first = Follow();
  ASSERT_TRUE(first->Read());
  first->Cancel();
  Publish(35);
  auto second = Follow(first->token);
  ASSERT_TRUE(second->Read());
  EXPECT_EQ(second->last.lost().reason(), pb::Lost::REASON_OVERRUN);
  EXPECT_EQ(second->last.lost().count(), 25);
  EXPECT_EQ(second->sequences, Range(26, 35));
}

/// A watcher that stops reading until far more has passed than the ring and the connection hold.
TEST_F(WatchTest, CountsEveryEventThatASlowWatcherLoses) {
  constexpr int64_t kEvents = 400'000;
  Start({.watcher_write_limit = std::chrono::minutes(5)}, 500);
  auto watch = Follow();
  ASSERT_TRUE(watch->Read());
  for (int64_t i = 0; i < kEvents / 100; ++i) {
    Publish(100);
    std::this_thread::yield();
  }
  int64_t position = 0;
  while (position < kEvents) {
    ASSERT_TRUE(watch->Read());
    position += watch->last.lost().count();
    for (const pb::Event& event : watch->last.events()) ASSERT_EQ(event.sequence(), ++position);
  }
  EXPECT_GT(watch->lost, 0);
  EXPECT_EQ(watch->lost + static_cast<int64_t>(watch->sequences.size()), kEvents);
}

TEST_F(WatchTest, EndsAWatcherThatTakesNothingAndCountsIt) {
  Start({.watcher_write_limit = std::chrono::milliseconds(200)});
  auto stuck = Follow();
  ASSERT_TRUE(stuck->Read());
  PublishMoreThanAConnectionHolds();
  EXPECT_TRUE(Eventually([&] { return GetServerStatus().watchers_dropped() == 1; }));
  EXPECT_TRUE(Eventually([&] { return GetServerStatus().watchers() == 0; }));
  while (stuck->Read()) continue;
  EXPECT_EQ(stuck->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(WatchTest, SendsHeartbeatsWithFreshTokens) {
  Start({.heartbeat = std::chrono::milliseconds(20)});
  pb::WatchEventsRequest request;
  request.set_follow(true);
  request.add_filters()->add_kinds(pb::EVENT_KIND_USAGE);
  Watch watch(*observer_, request);
  ASSERT_TRUE(watch.Read());
  Publish(7);
  do {
    ASSERT_TRUE(watch.Read());
    EXPECT_EQ(watch.last.events_size(), 0);
  } while (ParseResumeToken(watch.token)->sequence != 7);
}

TEST_F(WatchTest, TellsExactlyWhatAResizeGaveUp) {
  Start();
  auto first = Follow();
  ASSERT_TRUE(first->Read());
  first->Cancel();
  Publish(300);
  hub_->Resize(100);
  EXPECT_EQ(GetServerStatus().ring().capacity(), 100);
  EXPECT_EQ(GetServerStatus().ring().size(), 100);
  auto second = Follow(first->token);
  ASSERT_TRUE(second->Read());
  EXPECT_EQ(second->last.lost().reason(), pb::Lost::REASON_OVERRUN);
  EXPECT_EQ(second->last.lost().count(), 200);
  hub_->Resize(1000);
  Publish(900);
  second->ReadUntilTold(1200);
  EXPECT_EQ(second->lost, 200);
  EXPECT_EQ(second->sequences, Range(201, 1200));
}

TEST_F(WatchTest, RefusesWatchersOverTheLimitUntilOneLeaves) {
  Start({.max_watchers = 2, .heartbeat = std::chrono::hours(1)});  // no write tells who left
  auto first = Follow();
  auto second = Follow();
  ASSERT_TRUE(first->Read());
  ASSERT_TRUE(second->Read());
  EXPECT_EQ(GetServerStatus().watchers(), 2);
  auto third = Follow();
  EXPECT_FALSE(third->Read());
  EXPECT_EQ(third->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  first->Cancel();
  EXPECT_TRUE(Eventually([this] { return GetServerStatus().watchers() == 1; }));
  EXPECT_TRUE(Follow()->Read());
}

TEST_F(WatchTest, GivesOpenWatchesTheLastEventsAndEndsThemAtShutdown) {
  Start();
  auto watch = Follow();
  ASSERT_TRUE(watch->Read());
  std::thread reader([&] {
    while (watch->Read()) continue;
  });
  Publish(1000);
  server_->Shutdown(std::chrono::minutes(1));
  reader.join();
  EXPECT_EQ(watch->sequences, Range(1, 1000));
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the server is shutting down");
}

TEST_F(WatchTest, ShutsDownDespiteAWatcherThatTakesNothing) {
  Start({.watcher_write_limit = std::chrono::hours(1)});
  auto stuck = Follow();
  ASSERT_TRUE(stuck->Read());
  PublishMoreThanAConnectionHolds();
  server_->Shutdown(std::chrono::milliseconds(200));
}

}  // namespace
}  // namespace sluice::server
