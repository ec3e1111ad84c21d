#include "server/config_convert.h"

#include <chrono>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using config::Violation;
using ::testing::IsEmpty;

/// No setting has its default.
config::Config Unusual() {
  config::Config config;
  config::Pool pool;
  pool.id = "chat";
  pool.endpoints = {{"a", "http://127.0.0.1:9000"}, {"b", "http://[::1]:9001/v1"}};
  pool.timeouts = {.connect = std::chrono::milliseconds(1500),
                   .first_frame = std::chrono::seconds(2),
                   .idle = std::chrono::seconds(3),
                   .frame_idle = std::chrono::seconds(4),
                   .hold_budget = std::chrono::seconds(5),
                   .hold_keepalive = std::chrono::seconds(6),
                   .client_stall = std::chrono::nanoseconds(7)};
  pool.retry = {.max_attempts = 9, .retry_503 = false, .retry_after_send = false};
  pool.commit = config::CommitPoint::kOnHead;
  pool.relay = config::RelayMode::kValidFrames;
  pool.credentials = config::Credentials::kPassThrough;
  pool.keys = {{.id = "k1", .env = "KEY"}, {.id = "k2", .file = "/run/key"}};
  pool.key_header = "x-api-key";
  pool.ask_usage = true;
  config.pools = {pool};
  config.routes = {{"gpt-*", "chat"}, {"*", "chat"}};
  config.limits = {.max_body_bytes = 123, .max_in_flight = 45, .event_ring_capacity = 2048};
  return config;
}

config::Config RoundTrip(const config::Config& config) {
  std::vector<Violation> violations;
  config::Config back = FromProto(ToProto(config), &violations);
  EXPECT_THAT(violations, IsEmpty());
  return back;
}

TEST(ConfigConvertTest, KeepsEverySettingBothWays) {
  EXPECT_EQ(RoundTrip(Unusual()), Unusual());
  EXPECT_EQ(RoundTrip(config::Config{}), config::Config{});
  config::Config defaults;
  defaults.pools = {{.id = "chat"}};
  EXPECT_EQ(RoundTrip(defaults), defaults);
}

TEST(ConfigConvertTest, FillsInDefaultsForWhatIsNotSet) {
  pb::Config proto;
  proto.add_pools()->set_id("chat");
  proto.mutable_pools(0)->mutable_timeouts();
  proto.mutable_pools(0)->mutable_retry();
  proto.mutable_limits();
  std::vector<Violation> violations;
  config::Config expected;
  expected.pools = {{.id = "chat"}};
  EXPECT_EQ(FromProto(proto, &violations), expected);
}

TEST(ConfigConvertTest, CarriesWhatNamesAVersion) {
  const pb::Config proto = ToProto(config::Version{.config = Unusual(),
                                                   .generation = 7,
                                                   .etag = "the-etag",
                                                   .time = absl::FromUnixSeconds(1000)});
  EXPECT_EQ(proto.name(), "config");
  EXPECT_EQ(proto.etag(), "the-etag");
  EXPECT_EQ(proto.generation(), 7);
  EXPECT_EQ(proto.update_time().seconds(), 1000);
}

TEST(ConfigConvertTest, ReportsEnumValuesItDoesNotKnow) {
  pb::Config proto;
  proto.add_pools();
  pb::Pool* pool = proto.add_pools();
  pool->set_commit_point(static_cast<pb::CommitPoint>(77));
  pool->set_relay_mode(static_cast<pb::RelayMode>(-1));
  pool->set_credentials(static_cast<pb::Credentials>(3));
  std::vector<Violation> violations;
  FromProto(proto, &violations);
  EXPECT_THAT(violations,
              testing::ElementsAre(testing::Field(&Violation::path, "pools[1].commit_point"),
                                   testing::Field(&Violation::path, "pools[1].relay_mode"),
                                   testing::Field(&Violation::path, "pools[1].credentials")));
}

TEST(ConfigConvertTest, MapsNumbersOutOfRangeToOnesThatValidateRefuses) {
  pb::Config proto;
  proto.add_pools()->set_id("chat");
  pb::Timeouts* timeouts = proto.mutable_pools(0)->mutable_timeouts();
  timeouts->mutable_connect()->set_seconds(INT64_MAX);
  timeouts->mutable_connect()->set_nanos(INT32_MAX);
  timeouts->mutable_idle()->set_seconds(INT64_MIN);
  timeouts->mutable_idle()->set_nanos(INT32_MIN);
  proto.mutable_limits()->set_max_body_bytes(-1);
  std::vector<Violation> violations;
  const config::Config config = FromProto(proto, &violations);
  EXPECT_THAT(config::Validate(config),
              testing::ElementsAre(testing::Field(&Violation::path, "pools[0].timeouts.connect"),
                                   testing::Field(&Violation::path, "pools[0].timeouts.idle"),
                                   testing::Field(&Violation::path, "limits.max_body_bytes")));
}

}  // namespace
}  // namespace sluice::server
