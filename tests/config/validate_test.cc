#include "lib/config/validate.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Config ValidConfig() {
  Config config;
  config.pools = {{.id = "chat",
                   .endpoints = {{"a", "http://127.0.0.1:9000"}, {"b", "http://127.0.0.1:9001"}}}};
  config.routes = {{"*", "chat"}};
  return config;
}

std::vector<std::string> PathsAfter(const std::function<void(Config&)>& change) {
  Config config = ValidConfig();
  change(config);
  std::vector<std::string> paths;
  for (const Violation& violation : Validate(config)) paths.push_back(violation.path);
  return paths;
}

TEST(ValidateTest, AcceptsTheSmallestConfigAndTheEmptyOne) {
  EXPECT_THAT(Validate(ValidConfig()), IsEmpty());
  EXPECT_THAT(Validate(Config{}), IsEmpty());
}

TEST(ValidateTest, AcceptsAPoolWithoutEndpoints) {
  EXPECT_THAT(PathsAfter([](Config& c) { c.pools[0].endpoints.clear(); }), IsEmpty());
}

TEST(ValidateTest, ReportsAllViolationsAtOnceInFieldOrder) {
  EXPECT_THAT(PathsAfter([](Config& c) {
                c.pools[0].id = "Chat";
                c.pools[0].endpoints[1].uri = "nowhere";
                c.pools[0].timeouts.idle = Duration::zero();
                c.pools[0].retry.max_attempts = 0;
                c.routes[0].pool = "other";
                c.limits.max_in_flight = 0;
              }),
              ElementsAre("pools[0].id", "pools[0].endpoints[1].uri", "pools[0].timeouts.idle",
                          "pools[0].retry.max_attempts", "routes[0].pool", "limits.max_in_flight"));
}

TEST(ValidateTest, AcceptsKeysThatSayWhereTheirValueIs) {
  EXPECT_THAT(PathsAfter([](Config& c) {
                c.pools[0].keys = {{.id = "k1", .env = "KEY"}, {.id = "k2", .file = "/run/key"}};
                c.pools[0].key_header = "x-api-key";
                c.pools[0].relay = RelayMode::kValidFrames;
              }),
              IsEmpty());
}

TEST(ValidateTest, RefusesKeysThatCannotBeUsed) {
  EXPECT_THAT(PathsAfter([](Config& c) {
                c.pools[0].credentials = Credentials::kPassThrough;
                c.pools[0].keys = {{.id = "k1", .env = "A", .file = "b"}, {.id = "k1"}};
                c.pools[0].key_header = "no token";
              }),
              ElementsAre("pools[0].keys[0]", "pools[0].keys[1].id", "pools[0].keys[1]",
                          "pools[0].keys", "pools[0].key_header"));
  for (const absl::string_view field : {"", "host", "Content-Length", "Connection", "a:b"}) {
    EXPECT_THAT(PathsAfter([&](Config& c) { c.pools[0].key_header = std::string(field); }),
                ElementsAre("pools[0].key_header"))
        << field;
  }
}

TEST(ValidateTest, HoldsIdsToThePattern) {
  for (const std::string& id : {std::string("a"), std::string("a-1"), std::string(63, 'a')}) {
    EXPECT_THAT(PathsAfter([&](Config& c) { c.pools[0].endpoints[0].id = id; }), IsEmpty()) << id;
  }
  for (const std::string& id :
       {std::string(), std::string("1a"), std::string("-a"), std::string("a-"), std::string("A"),
        std::string("a_b"), std::string("a/b"), std::string(64, 'a')}) {
    EXPECT_THAT(PathsAfter([&](Config& c) { c.pools[0].endpoints[0].id = id; }),
                ElementsAre("pools[0].endpoints[0].id"))
        << id;
  }
}

TEST(ValidateTest, RefusesTheSecondUseOfAnId) {
  EXPECT_THAT(PathsAfter([](Config& c) { c.pools[0].endpoints[1].id = "a"; }),
              ElementsAre("pools[0].endpoints[1].id"));
  EXPECT_THAT(PathsAfter([](Config& c) { c.pools.push_back(c.pools[0]); }),
              ElementsAre("pools[1].id"));
}

TEST(ValidateTest, LetsTwoPoolsUseTheSameEndpointId) {
  EXPECT_THAT(PathsAfter([](Config& c) {
                c.pools.push_back(c.pools[0]);
                c.pools[1].id = "other";
              }),
              IsEmpty());
}

TEST(ValidateTest, BoundsEachTimeout) {
  const std::pair<std::string, Duration Timeouts::*> all[] = {
      {"connect", &Timeouts::connect},
      {"first_frame", &Timeouts::first_frame},
      {"idle", &Timeouts::idle},
      {"frame_idle", &Timeouts::frame_idle},
      {"hold_budget", &Timeouts::hold_budget},
      {"hold_keepalive", &Timeouts::hold_keepalive},
      {"client_stall", &Timeouts::client_stall},
  };
  for (const auto& [name, field] : all) {
    const auto with = [field = field](Duration value) {
      return PathsAfter([&](Config& c) { c.pools[0].timeouts.*field = value; });
    };
    EXPECT_THAT(with(Duration(0)), ElementsAre("pools[0].timeouts." + name));
    EXPECT_THAT(with(Duration(-1)), ElementsAre("pools[0].timeouts." + name));
    EXPECT_THAT(with(Duration(1)), IsEmpty());
    EXPECT_THAT(with(std::chrono::hours(24)), IsEmpty());
    EXPECT_THAT(with(std::chrono::hours(24) + Duration(1)),
                ElementsAre("pools[0].timeouts." + name));
  }
}

TEST(ValidateTest, BoundsNumbersAtTheirLimits) {
  const auto attempts = [](int n) {
    return PathsAfter([n](Config& c) { c.pools[0].retry.max_attempts = n; });
  };
  EXPECT_THAT(attempts(1), IsEmpty());
  EXPECT_THAT(attempts(100), IsEmpty());
  EXPECT_THAT(attempts(101), ElementsAre("pools[0].retry.max_attempts"));
  const auto body = [](size_t n) {
    return PathsAfter([n](Config& c) { c.limits.max_body_bytes = n; });
  };
  EXPECT_THAT(body(0), ElementsAre("limits.max_body_bytes"));
  EXPECT_THAT(body(1), IsEmpty());
  EXPECT_THAT(body(size_t{4} << 30), IsEmpty());
  EXPECT_THAT(body((size_t{4} << 30) + 1), ElementsAre("limits.max_body_bytes"));
  const auto in_flight = [](int n) {
    return PathsAfter([n](Config& c) { c.limits.max_in_flight = n; });
  };
  EXPECT_THAT(in_flight(-1), ElementsAre("limits.max_in_flight"));
  EXPECT_THAT(in_flight(1'000'000), IsEmpty());
  EXPECT_THAT(in_flight(1'000'001), ElementsAre("limits.max_in_flight"));
  const auto ring = [](int n) {
    return PathsAfter([n](Config& c) { c.limits.event_ring_capacity = n; });
  };
  EXPECT_THAT(ring(1023), ElementsAre("limits.event_ring_capacity"));
  EXPECT_THAT(ring(1024), IsEmpty());
  EXPECT_THAT(ring(16'777'216), IsEmpty());
  EXPECT_THAT(ring(16'777'217), ElementsAre("limits.event_ring_capacity"));
}

TEST(ValidateTest, HoldsRoutesToTheirForm) {
  const auto model = [](const std::string& text) {
    return PathsAfter([&](Config& c) { c.routes[0].model = text; });
  };
  EXPECT_THAT(model("gpt-4o"), IsEmpty());
  EXPECT_THAT(model("meta-llama/Llama 3*"), IsEmpty());
  EXPECT_THAT(model(std::string(256, 'm')), IsEmpty());
  for (const std::string& bad : {std::string(), std::string("a*b"), std::string("**"),
                                 std::string("a\nb"), std::string(257, 'm')}) {
    EXPECT_THAT(model(bad), ElementsAre("routes[0].model")) << bad;
  }
}

TEST(ValidateTest, RefusesTwoRoutesForOneModel) {
  EXPECT_THAT(PathsAfter([](Config& c) { c.routes.push_back(c.routes[0]); }),
              ElementsAre("routes[1].model"));
}

TEST(ValidateTest, RequiresThePoolOfARoute) {
  EXPECT_THAT(PathsAfter([](Config& c) { c.routes[0].pool = ""; }), ElementsAre("routes[0].pool"));
}

TEST(ValidateTest, PrintsOneViolationPerLine) {
  EXPECT_EQ(ToString({{"a", "is wrong"}, {"b", "too"}}), "a: is wrong\nb: too");
}

}  // namespace
}  // namespace sluice::config
