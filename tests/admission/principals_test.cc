#include "lib/admission/principals.h"

#include "gtest/gtest.h"

namespace sluice::admission {
namespace {

config::Config TwoPrincipals() {
  config::Config config;
  config.principals = {{.id = "*", .max_in_flight = 2}, {.id = "alice", .max_in_flight = 5}};
  return config;
}

TEST(PrincipalsTest, NamedPolicyComesBeforeEverybodys) {
  config::Config config = TwoPrincipals();
  EXPECT_EQ(PolicyFor(config, "alice").max_in_flight, 5);
  EXPECT_EQ(PolicyFor(config, "alic").max_in_flight, 2);
  EXPECT_EQ(PolicyFor(config, "bob").max_in_flight, 2);
  std::swap(config.principals[0], config.principals[1]);
  EXPECT_EQ(PolicyFor(config, "alice").max_in_flight, 5);
  EXPECT_EQ(PolicyFor(config, "bob").max_in_flight, 2);
}

TEST(PrincipalsTest, WhoHasNoPolicyHasNoLimits) {
  const config::Config config;
  const config::Principal& policy = PolicyFor(config, "alice");
  EXPECT_EQ(policy.max_in_flight, 0);
  EXPECT_TRUE(MayUse(policy, "any"));
  EXPECT_EQ(RateFor(policy, "any"), config::Rate());
}

TEST(PrincipalsTest, MayUseWhatAPatternMatches) {
  const config::Principal policy = {.id = "alice", .models = {"gpt-*", "claude"}};
  EXPECT_TRUE(MayUse(policy, "gpt-4"));
  EXPECT_TRUE(MayUse(policy, "claude"));
  EXPECT_FALSE(MayUse(policy, "claude-2"));
  EXPECT_FALSE(MayUse(policy, "")) << "a request without a model";
  EXPECT_TRUE(MayUse({.id = "alice", .models = {"*"}}, ""));
  EXPECT_TRUE(MayUse({.id = "alice"}, ""));
}

TEST(PrincipalsTest, FirstRateThatMatchesCounts) {
  const config::Principal policy = {.id = "alice",
                                    .rates = {{.model = "gpt-4", .requests_per_minute = 1},
                                              {.model = "gpt-?", .requests_per_minute = 2},
                                              {.model = "gpt-*", .requests_per_minute = 3}}};
  EXPECT_EQ(RateFor(policy, "gpt-4").requests_per_minute, 1);
  EXPECT_EQ(RateFor(policy, "gpt-5").requests_per_minute, 2);
  EXPECT_EQ(RateFor(policy, "gpt-5-mini").requests_per_minute, 3);
  EXPECT_EQ(RateFor(policy, "claude").requests_per_minute, 0);
}

}  // namespace
}  // namespace sluice::admission
