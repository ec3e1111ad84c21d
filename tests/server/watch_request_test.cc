// What a request can say: where a watch begins, where it ends, what it shows.

#include <cstdint>
#include <memory>
#include <string>

#include "gmock/gmock.h"

#include "lib/base/ids.h"
#include "server/proto_time.h"
#include "server/resume_token.h"
#include "tests/server/watch_fixture.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;

using WatchRequestTest = WatchTest;

TEST_F(WatchRequestTest, BeginsWithTheTailAndEndsWithoutFollow) {
  Start();
  Publish(5);
  pb::WatchEventsRequest request;
  request.set_tail(3);
  Watch watch(*observer_, request);
  while (watch.Read()) continue;
  EXPECT_TRUE(watch.Finish().ok());
  EXPECT_THAT(watch.sequences, ElementsAre(3, 4, 5));
}

TEST_F(WatchRequestTest, GivesATailLargerThanTheRingAsFarAsItReaches) {
  Start({}, 4);
  Publish(10);
  pb::WatchEventsRequest request;
  request.set_tail(100);
  Watch watch(*observer_, request);
  while (watch.Read()) continue;
  EXPECT_THAT(watch.sequences, ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(watch.lost, 0);
}

TEST_F(WatchRequestTest, BeginsWithTheFirstEventOfATime) {
  Start();
  for (const int second : {1, 2, 3, 4}) {
    events::Event event;
    event.time = absl::FromUnixSeconds(second);
    hub_->Publish(std::move(event));
  }
  const auto since = [this](double seconds) {
    pb::WatchEventsRequest request;
    *request.mutable_since() = ToProto(absl::FromUnixMillis(static_cast<int64_t>(seconds * 1000)));
    Watch watch(*observer_, request);
    while (watch.Read()) continue;
    EXPECT_TRUE(watch.Finish().ok());
    EXPECT_EQ(watch.lost, 0);
    return watch.sequences;
  };
  EXPECT_THAT(since(0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(since(3), ElementsAre(3, 4));
  EXPECT_THAT(since(3.001), ElementsAre(4));
  EXPECT_THAT(since(9), ElementsAre());
}

TEST_F(WatchRequestTest, BeginsWithTheNextEventForATimeToCome) {
  Start();
  Publish(3);
  pb::WatchEventsRequest request;
  request.set_follow(true);
  *request.mutable_since() = ToProto(absl::Now() + absl::Hours(1));
  Watch watch(*observer_, request);
  ASSERT_TRUE(watch.Read());
  Publish(2);
  watch.ReadUntilTold(2);
  EXPECT_THAT(watch.sequences, ElementsAre(4, 5));
}

TEST_F(WatchRequestTest, EndsAtOnceWithoutFollowWhenThereIsNothing) {
  Start();
  EXPECT_EQ(CodeOf({}), grpc::StatusCode::OK);
}

TEST_F(WatchRequestTest, EndsWithoutFollowAtTheEventThatWasTheLatestThoughMoreCome) {
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

TEST_F(WatchRequestTest, ShowsOnlyWhatAFilterMatches) {
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

TEST_F(WatchRequestTest, ShowsOnlyTheEventsOfAPrincipal) {
  Start();
  for (const char* principal : {"a", "b", "a"}) {
    auto info = std::make_shared<ExchangeInfo>();
    info->principal = principal;
    events::Event event;
    event.subject = std::make_shared<const Subject>(Subject{.exchange = info});
    hub_->Publish(std::move(event));
  }
  pb::WatchEventsRequest request;
  request.set_tail(1000);
  request.add_filters()->add_principals("a");
  Watch watch(*observer_, request);
  while (watch.Read()) continue;
  EXPECT_THAT(watch.sequences, ElementsAre(1, 3));
}

TEST_F(WatchRequestTest, RefusesARequestThatMakesNoSense) {
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
  EXPECT_EQ(code([&](auto& r) {
              r.set_resume_token(good);
              r.mutable_since();
            }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) {
              r.mutable_since();
              r.set_tail(1);
            }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.mutable_since()->set_seconds(-1); }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.mutable_since()->set_seconds(INT64_MAX); }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.mutable_since()->set_nanos(-1); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.mutable_since()->set_nanos(1'000'000'000); }),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.mutable_since()->set_nanos(999'999'999); }), StatusCode::OK);
  EXPECT_EQ(code([&](auto& r) { r.set_tail(-1); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.set_tail(1'000'001); }), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code([&](auto& r) { r.add_filters()->add_exchanges("17"); }),
            StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace sluice::server
