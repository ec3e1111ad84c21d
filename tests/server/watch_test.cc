#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"

#include "lib/base/ids.h"
#include "server/resume_token.h"
#include "tests/server/control_fixture.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;

/// One WatchEvents call and what it has brought so far.
class Watch {
 public:
  Watch(pb::ObserverService::Stub& stub, const pb::WatchEventsRequest& request)
      : reader_(stub.WatchEvents(&context_, request)) {}
  ~Watch() {
    if (!finished_) Cancel();
  }

  /// Takes one response; false at the end of the stream.
  bool Read() {
    pb::WatchEventsResponse response;
    if (!reader_->Read(&response)) return false;
    token = response.resume_token();
    last = response;
    if (response.has_lost()) lost += response.lost().count();
    for (const pb::Event& event : response.events()) sequences.push_back(event.sequence());
    return true;
  }

  void ReadUntilTold(int64_t count) {
    while (lost + static_cast<int64_t>(sequences.size()) < count && Read()) continue;
  }

  grpc::Status Finish() {
    finished_ = true;
    return reader_->Finish();
  }

  grpc::Status Cancel() {
    context_.TryCancel();
    return Finish();
  }

  std::vector<int64_t> sequences;
  int64_t lost = 0;
  std::string token;
  pb::WatchEventsResponse last;

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<pb::WatchEventsResponse>> reader_;
  bool finished_ = false;
};

class WatchTest : public ControlServerTest {
 protected:
  std::unique_ptr<Watch> Follow(const std::string& token = "") {
    pb::WatchEventsRequest request;
    request.set_follow(true);
    request.set_resume_token(token);
    return std::make_unique<Watch>(*observer_, request);
  }

  static std::vector<int64_t> Range(int64_t first, int64_t last) {
    std::vector<int64_t> range;
    for (int64_t i = first; i <= last; ++i) range.push_back(i);
    return range;
  }

  /// Publishes one response's worth of events that no connection takes unless its client reads.
  void PublishMoreThanAConnectionHolds() {
    events::Event event;
    event.what = std::make_shared<const events::ConfigChanged>(
        events::ConfigChanged{1, std::string(200'000, 'e')});
    for (size_t i = 0; i < events::Reader::kMaxBatch; ++i) hub_->Publish(event);
  }

  grpc::StatusCode CodeOf(const pb::WatchEventsRequest& request) {
    Watch watch(*observer_, request);
    while (watch.Read()) continue;
    return watch.Finish().error_code();
  }
};

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

TEST_F(WatchTest, BeginsWithTheTailAndEndsWithoutFollow) {
  Start();
  Publish(5);
  pb::WatchEventsRequest request;
  request.set_tail(3);
  Watch watch(*observer_, request);
  while (watch.Read()) continue;
  EXPECT_TRUE(watch.Finish().ok());
  EXPECT_THAT(watch.sequences, ElementsAre(3, 4, 5));
}

TEST_F(WatchTest, GivesATailLargerThanTheRingAsFarAsItReaches) {
  Start({}, 4);
  Publish(10);
  pb::WatchEventsRequest request;
  request.set_tail(100);
  Watch watch(*observer_, request);
  while (watch.Read()) continue;
  EXPECT_THAT(watch.sequences, ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(watch.lost, 0);
}

TEST_F(WatchTest, EndsAtOnceWithoutFollowWhenThereIsNothing) {
  Start();
  EXPECT_EQ(CodeOf({}), grpc::StatusCode::OK);
}

TEST_F(WatchTest, EndsWithoutFollowAtTheEventThatWasTheLatestThoughMoreCome) {
  Start();
  PublishMoreThanAConnectionHolds();
  Publish(2);
  pb::WatchEventsRequest request;
  request.set_tail(static_cast<int>(events::Reader::kMaxBatch) + 2);
  Watch watch(*observer_, request);
  ASSERT_TRUE(Eventually([this] { return GetServerStatus().watchers() == 1; }));
  Publish(10);  // while the first response waits to be taken
  while (watch.Read()) continue;
  EXPECT_EQ(watch.sequences, Range(1, static_cast<int64_t>(events::Reader::kMaxBatch) + 2));
  EXPECT_TRUE(watch.Finish().ok());
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

TEST_F(WatchTest, ShowsOnlyWhatAFilterMatches) {
  Start();
  pb::WatchEventsRequest request;
  request.set_tail(1000);
  request.add_filters()->add_kinds(pb::EVENT_KIND_FIRST_BYTE);
  request.add_filters()->add_kinds(pb::EVENT_KIND_CONFIG_CHANGED);
  Publish(300);
  events::Event event;
  event.what = events::FirstByte{200};
  hub_->Publish(event);
  Publish(300);
  Watch watch(*observer_, request);
  while (watch.Read()) continue;
  EXPECT_THAT(watch.sequences, ElementsAre(301));
  EXPECT_EQ(watch.lost, 0);
  EXPECT_EQ(watch.Finish().error_code(), grpc::StatusCode::OK);
}

TEST_F(WatchTest, RefusesARequestThatMakesNoSense) {
  Start();
  Publish(5);
  const auto code = [this](auto change) {
    pb::WatchEventsRequest request;
    change(request);
    return CodeOf(request);
  };
  using grpc::StatusCode;
  const std::string good = ToString({BootEpoch(), 5});
  EXPECT_EQ(code([&](auto& r) { r.set_resume_token(good); }), StatusCode::OK);
  EXPECT_EQ(code([&](auto& r) {
              r.set_resume_token(ToString({BootEpoch(), 6}));
            }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.set_resume_token("junk"); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) {
              r.set_resume_token(good);
              r.set_tail(1);
            }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.set_tail(-1); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.set_tail(1'000'001); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.add_filters()->add_exchanges("17"); }),
            StatusCode::INVALID_ARGUMENT);
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
