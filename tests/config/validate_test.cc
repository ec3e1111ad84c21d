#include "lib/config/validate.h"

#include <cmath>
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
  EXPECT_THAT(model("*-instruct-?b"), IsEmpty());
  EXPECT_THAT(model(std::string(256, 'm')), IsEmpty());
  for (const std::string& bad : {std::string(), std::string("a\nb"), std::string(257, 'm')}) {
    EXPECT_THAT(model(bad), ElementsAre("routes[0].model")) << bad;
  }
}

TEST(ValidateTest, RefusesTwoRoutesForOneModelUnlessTheirHeadersDiffer) {
  EXPECT_THAT(PathsAfter([](Config& c) { c.routes.push_back(c.routes[0]); }),
              ElementsAre("routes[1].model"));
  const auto with_headers = [](std::vector<HeaderMatch> a, std::vector<HeaderMatch> b) {
    return PathsAfter([&](Config& c) {
      c.routes.push_back(c.routes[0]);
      c.routes[0].headers = a;
      c.routes[1].headers = b;
    });
  };
  EXPECT_THAT(with_headers({{"X-Tier", "gold"}}, {}), IsEmpty());
  EXPECT_THAT(with_headers({{"X-Tier", "gold"}}, {{"x-tier", "gold"}}),
              ElementsAre("routes[1].model"));
  EXPECT_THAT(with_headers({{"A", "1"}, {"B", "2"}}, {{"b", "2"}, {"a", "1"}}),
              ElementsAre("routes[1].model"));
}

TEST(ValidateTest, HoldsRouteTargetsToPoolsThereAre) {
  const auto after = [](auto change) {
    return PathsAfter([&](Config& c) {
      c.routes[0].pool = "";
      c.routes[0].targets = {{.pool = "chat"}, {.pool = "chat", .weight = 0}};
      change(c.routes[0]);
    });
  };
  EXPECT_THAT(after([](Route&) {}), IsEmpty());
  EXPECT_THAT(after([](Route& r) { r.pool = "chat"; }), ElementsAre("routes[0].pool"));
  EXPECT_THAT(after([](Route& r) { r.targets[1].pool = "none"; }),
              ElementsAre("routes[0].targets[1].pool"));
  EXPECT_THAT(after([](Route& r) { r.targets[0].weight = 0; }), ElementsAre("routes[0].targets"));
  EXPECT_THAT(after([](Route& r) { r.targets[0].weight = -1; }),
              ElementsAre("routes[0].targets[0].weight"));
  EXPECT_THAT(after([](Route& r) { r.fallbacks = {{.pool = ""}}; }),
              ElementsAre("routes[0].fallbacks[0].pool"));
  EXPECT_THAT(after([](Route& r) {
                r.headers = {{"Content-Length", "1"}, {"A", ""}};
              }),
              ElementsAre("routes[0].headers[0].name", "routes[0].headers[1].value"));
}

TEST(ValidateTest, HoldsPrincipalsToTheirForm) {
  const auto after = [](auto change) {
    return PathsAfter([&](Config& c) {
      c.principals = {{.id = "alice", .models = {"gpt-*"}, .rates = {{.requests_per_minute = 1}}},
                      {.id = "*"}};
      change(c.principals);
    });
  };
  EXPECT_THAT(after([](auto&) {}), IsEmpty());
  EXPECT_THAT(after([](auto& p) { p[1].id = "alice"; }), ElementsAre("principals[1].id"));
  EXPECT_THAT(after([](auto& p) { p[0].id = "a b"; }), ElementsAre("principals[0].id"));
  EXPECT_THAT(after([](auto& p) { p[0].models = {""}; }), ElementsAre("principals[0].models[0]"));
  EXPECT_THAT(after([](auto& p) { p[0].max_in_flight = -1; }),
              ElementsAre("principals[0].max_in_flight"));
  EXPECT_THAT(after([](auto& p) { p[0].priority = 101; }), ElementsAre("principals[0].priority"));
  EXPECT_THAT(after([](auto& p) { p[0].rates.push_back(p[0].rates[0]); }),
              ElementsAre("principals[0].rates[1].model"));
  EXPECT_THAT(after([](auto& p) { p[0].rates[0].tokens_per_minute = -1; }),
              ElementsAre("principals[0].rates[0].tokens_per_minute"));
}

TEST(ValidateTest, HoldsThePoliciesOfAPoolToTheirRanges) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const struct {
    std::function<void(Pool&)> change;
    std::string path;
  } cases[] = {
      {[](Pool& p) { p.endpoints[0].weight = 0; }, "endpoints[0].weight"},
      {[](Pool& p) { p.endpoints[0].max_in_flight = -1; }, "endpoints[0].max_in_flight"},
      {[](Pool& p) {
         p.endpoints[0].headers = {{"Host", "x"}};
       },
       "endpoints[0].headers[0].name"},
      {[](Pool& p) {
         p.endpoints[0].headers = {{"A", "x\n"}};
       },
       "endpoints[0].headers[0].value"},
      {[](Pool& p) { p.retry.budget_tokens = 0; }, "retry.budget_tokens"},
      {[](Pool& p) { p.retry.budget_ratio = std::nan(""); }, "retry.budget_ratio"},
      {[](Pool& p) { p.hedge.after = seconds(-1); }, "hedge.after"},
      {[](Pool& p) {
         p.hedge.after = seconds(1);
         p.retry.max_attempts = 1;
       },
       "hedge.after"},
      {[](Pool& p) { p.hedge.ratio = 1.1; }, "hedge.ratio"},
      {[](Pool& p) { p.balancing.load_factor = 0.9; }, "balancing.load_factor"},
      {[](Pool& p) {
         p.balancing.policy = Balance::kConsistentHash;
         p.balancing.hash_on = HashOn::kHeader;
       },
       "balancing.hash_header"},
      {[](Pool& p) { p.health.consecutive_failures = -1; }, "health.consecutive_failures"},
      {[](Pool& p) { p.health.failure_ratio = 1.1; }, "health.failure_ratio"},
      {[](Pool& p) { p.health.ejection = seconds(0); }, "health.ejection"},
      {[](Pool& p) { p.health.ejection = seconds(301); }, "health.longest_ejection"},
      {[](Pool& p) { p.health.max_ejected_percent = 101; }, "health.max_ejected_percent"},
      {[](Pool& p) { p.health.slow_start = seconds(-1); }, "health.slow_start"},
      {[](Pool& p) { p.probe.path = "health"; }, "probe.path"},
      {[](Pool& p) { p.probe = {.path = "/h", .interval = milliseconds(99)}; }, "probe.interval"},
      {[](Pool& p) { p.probe = {.path = "/h", .timeout = seconds(0)}; }, "probe.timeout"},
      {[](Pool& p) { p.probe = {.path = "/h", .unhealthy_after = 0}; }, "probe.unhealthy_after"},
      {[](Pool& p) { p.probe = {.path = "/h", .healthy_after = 0}; }, "probe.healthy_after"},
      {[](Pool& p) { p.max_in_flight = -1; }, "max_in_flight"},
      {[](Pool& p) { p.queue.capacity = -1; }, "queue.capacity"},
      {[](Pool& p) { p.queue.max_wait = seconds(0); }, "queue.max_wait"},
      {[](Pool& p) { p.tls.certificate_file = "/c.pem"; }, "tls"},
      {[](Pool& p) { p.tls = {.ca_file = "/c.pem", .insecure = true}; }, "tls.insecure"},
      {[](Pool& p) { p.models = {""}; }, "models[0]"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(PathsAfter([&](Config& config) { c.change(config.pools[0]); }),
                ElementsAre("pools[0]." + c.path));
  }
}

TEST(ValidateTest, RequiresThePoolOfARoute) {
  EXPECT_THAT(PathsAfter([](Config& c) { c.routes[0].pool = ""; }), ElementsAre("routes[0].pool"));
}

TEST(ValidateTest, PrintsOneViolationPerLine) {
  EXPECT_EQ(ToString({{"a", "is wrong"}, {"b", "too"}}), "a: is wrong\nb: too");
}

}  // namespace
}  // namespace sluice::config
