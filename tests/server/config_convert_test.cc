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
  pool.endpoints = {{"a", "http://127.0.0.1:9000"},
                    {.id = "b",
                     .uri = "http://[::1]:9001/v1",
                     .weight = 3,
                     .max_in_flight = 4,
                     .resolve = true,
                     .headers = {{"x-a", "1"}, {"x-b", ""}}}};
  pool.timeouts = {.connect = std::chrono::milliseconds(1500),
                   .first_frame = std::chrono::seconds(2),
                   .idle = std::chrono::seconds(3),
                   .frame_idle = std::chrono::seconds(4),
                   .hold_budget = std::chrono::seconds(5),
                   .hold_keepalive = std::chrono::seconds(6),
                   .client_stall = std::chrono::nanoseconds(7)};
  pool.retry = {.max_attempts = 9,
                .retry_503 = false,
                .retry_after_send = false,
                .budget_tokens = 11,
                .budget_ratio = 0.5};
  pool.hedge = {.after = std::chrono::milliseconds(8), .ratio = 0.25};
  pool.commit = config::CommitPoint::kOnHead;
  pool.relay = config::RelayMode::kValidFrames;
  pool.credentials = config::Credentials::kPassThrough;
  pool.keys = {{.id = "k1", .env = "KEY"}, {.id = "k2", .file = "/run/key"}};
  pool.key_header = "x-api-key";
  pool.ask_usage = true;
  pool.balancing = {.policy = config::Balance::kConsistentHash,
                    .hash_on = config::HashOn::kHeader,
                    .hash_header = "x-session",
                    .load_factor = 2};
  pool.health = {.consecutive_failures = 0,
                 .failure_ratio = 0.5,
                 .ejection = std::chrono::seconds(8),
                 .longest_ejection = std::chrono::seconds(9),
                 .max_ejected_percent = 0,
                 .slow_start = std::chrono::seconds(10)};
  pool.probe = {.path = "/health",
                .interval = std::chrono::seconds(11),
                .timeout = std::chrono::seconds(12),
                .unhealthy_after = 13,
                .healthy_after = 14};
  pool.max_in_flight = 15;
  pool.queue = {.capacity = 16, .max_wait = std::chrono::seconds(17)};
  pool.tls = {.ca_file = "/ca",
              .certificate_file = "/cert",
              .private_key_file = "/key",
              .server_name = "engine",
              .insecure = true};
  pool.models = {"gpt-4o", "gpt-5"};
  config.pools = {pool};
  config.routes = {{"gpt-*", "chat"},
                   {.model = "*",
                    .targets = {{.pool = "chat", .weight = 0, .model = "llama"}, {.pool = "chat"}},
                    .headers = {{"x-tier", "gold"}},
                    .fallbacks = {{.pool = "chat", .model = "other"}}}};
  config.principals = {{.id = "alice",
                        .models = {"gpt-*"},
                        .max_in_flight = 1,
                        .rates = {{"gpt-4o", 2, 3}, {"*", 4, 0}},
                        .end_streams = true,
                        .priority = -5}};
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

TEST(ConfigConvertTest, KeepsEveryValueOfAnEnum) {
  config::Config config = Unusual();
  for (int i = 0; i <= static_cast<int>(config::Balance::kPrefixAffinity); ++i) {
    config.pools[0].balancing.policy = static_cast<config::Balance>(i);
    EXPECT_EQ(RoundTrip(config), config) << i;
  }
  for (int i = 0; i <= static_cast<int>(config::HashOn::kConversation); ++i) {
    config.pools[0].balancing.hash_on = static_cast<config::HashOn>(i);
    EXPECT_EQ(RoundTrip(config), config) << i;
  }
}

TEST(ConfigConvertTest, WantsThePathOfAProbe) {
  pb::Config proto;
  proto.add_pools()->mutable_probe();
  std::vector<Violation> violations;
  FromProto(proto, &violations);
  EXPECT_THAT(violations,
              testing::ElementsAre(testing::Field(&Violation::path, "pools[0].probe.path")));
}

TEST(ConfigConvertTest, ReportsEnumValuesItDoesNotKnow) {
  pb::Config proto;
  proto.add_pools();
  pb::Pool* pool = proto.add_pools();
  pool->set_commit_point(static_cast<pb::CommitPoint>(77));
  pool->set_relay_mode(static_cast<pb::RelayMode>(-1));
  pool->set_credentials(static_cast<pb::Credentials>(3));
  pool->mutable_balancing()->set_policy(static_cast<pb::Balance>(99));
  pool->mutable_balancing()->set_hash_on(static_cast<pb::HashOn>(99));
  std::vector<Violation> violations;
  FromProto(proto, &violations);
  EXPECT_THAT(violations,
              testing::ElementsAre(testing::Field(&Violation::path, "pools[1].commit_point"),
                                   testing::Field(&Violation::path, "pools[1].relay_mode"),
                                   testing::Field(&Violation::path, "pools[1].credentials"),
                                   testing::Field(&Violation::path, "pools[1].balancing.policy"),
                                   testing::Field(&Violation::path, "pools[1].balancing.hash_on")));
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
