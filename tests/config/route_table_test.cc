#include "lib/config/route_table.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/rendezvous.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RouteTableTest : public ::testing::Test {
 protected:
  RouteTableTest() {
    for (const char* id : {"a", "b", "c"}) config_.pools.push_back({.id = id});
  }

  /// The `pool` of the route found, "none" without one.
  std::string Find(absl::string_view model, HeaderList headers = {}) const {
    const RouteTable table(config_);
    const Route* route = table.Find(model, headers);
    return route == nullptr ? "none" : route->pool;
  }

  static HeaderList Fields(std::vector<Header> fields) {
    HeaderList list;
    for (const Header& field : fields) list.Add(field.name, field.value);
    return list;
  }

  Config config_;
};

TEST_F(RouteTableTest, PrefersAnExactNameThenTheMostLiteralPattern) {
  config_.routes = {{"*", "any"}, {"gpt-*", "short"}, {"*-4o-mini", "long"}, {"gpt-4o", "exact"}};
  for (Route& route : config_.routes) config_.pools.push_back({.id = route.pool});
  EXPECT_EQ(Find("gpt-4o"), "exact");
  EXPECT_EQ(Find("gpt-4o-mini"), "long");
  EXPECT_EQ(Find("gpt-3"), "short");
  EXPECT_EQ(Find("llama"), "any");
}

TEST_F(RouteTableTest, SendsARequestWithoutAModelOnlyToTheRouteForAny) {
  config_.routes = {{"gpt-*", "a"}};
  EXPECT_EQ(Find(""), "none");
  config_.routes.push_back({"*", "b"});
  EXPECT_EQ(Find(""), "b");
}

TEST_F(RouteTableTest, WantsAllHeadersOfARouteAndPrefersMoreOfThem) {
  config_.routes = {{"m", "a"},
                    {.model = "m", .pool = "b", .headers = {{"X-Tier", "gold"}}},
                    {.model = "m", .pool = "c", .headers = {{"x-tier", "gold"}, {"x-beta", "*"}}}};
  EXPECT_EQ(Find("m"), "a");
  EXPECT_EQ(Find("m", Fields({{"x-tier", "silver"}})), "a");
  EXPECT_EQ(Find("m", Fields({{"X-TIER", "gold"}})), "b");
  EXPECT_EQ(Find("m", Fields({{"x-tier", "silver"}, {"x-tier", "gold"}})), "b");
  EXPECT_EQ(Find("m", Fields({{"x-tier", "gold"}, {"x-beta", ""}})), "c");
}

TEST_F(RouteTableTest, GoesOnToPatternsWhenTheHeadersOfAnExactNameDoNotMatch) {
  config_.routes = {{.model = "m", .pool = "a", .headers = {{"x-tier", "gold"}}}, {"*", "b"}};
  EXPECT_EQ(Find("m"), "b");
}

TEST_F(RouteTableTest, SpreadsRequestsByWeightAndStably) {
  config_.routes = {
      {.model = "*", .targets = {{.pool = "a", .weight = 90}, {.pool = "b", .weight = 10}}}};
  const RouteTable table(config_);
  std::map<std::string, int> shares;
  std::vector<std::string> chosen;
  for (uint64_t request = 0; request < 10000; ++request) {
    const uint64_t hash = request * 0x9e3779b97f4a7c15;
    const auto destinations = table.DestinationsOf(config_.routes[0], hash);
    ASSERT_EQ(destinations.size(), 1u);
    EXPECT_EQ(table.DestinationsOf(config_.routes[0], hash), destinations);
    chosen.push_back(destinations[0].pool->id);
    ++shares[chosen.back()];
  }
  EXPECT_NEAR(shares["b"], 1000, 150);

  config_.routes[0].targets[1].weight = 20;
  const RouteTable changed(config_);
  for (uint64_t request = 0; request < 10000; ++request) {
    const auto destinations =
        changed.DestinationsOf(config_.routes[0], request * 0x9e3779b97f4a7c15);
    if (chosen[request] != "b") continue;
    EXPECT_EQ(destinations[0].pool->id, "b") << request;
  }
}

TEST_F(RouteTableTest, NeverLeadsToATargetOfWeightZero) {
  config_.routes = {{.model = "*", .targets = {{.pool = "a", .weight = 0}, {.pool = "b"}}}};
  const RouteTable table(config_);
  for (uint64_t request = 0; request < 1000; ++request) {
    EXPECT_EQ(table.DestinationsOf(config_.routes[0], request)[0].pool->id, "b");
  }
}

TEST_F(RouteTableTest, FallsBackInOrderAndRepeatsNothing) {
  config_.routes = {{.model = "*",
                     .targets = {{.pool = "a", .model = "big"}},
                     .fallbacks = {{.pool = "b"},
                                   {.pool = "a", .model = "big"},
                                   {.pool = "a", .model = "small"},
                                   {.pool = "c"}}}};
  const RouteTable table(config_);
  const auto pool = [&](int i) { return &config_.pools[i]; };
  EXPECT_THAT(table.DestinationsOf(config_.routes[0], 1),
              ElementsAre(Destination{pool(0), "big"}, Destination{pool(1), ""},
                          Destination{pool(0), "small"}, Destination{pool(2), ""}));
}

TEST_F(RouteTableTest, KnowsTheModelsThatRoutesAndTheirPoolsName) {
  EXPECT_THAT(RouteTable(config_).models(), IsEmpty());
  config_.pools[0].models = {"gpt-4o", "gpt-5", "llama"};
  config_.routes = {{"gpt-5", "b"}, {"gpt-*", "a"}, {"alias", "c"}};
  EXPECT_THAT(RouteTable(config_).models(), ElementsAre("alias", "gpt-4o", "gpt-5"));
}

TEST_F(RouteTableTest, FindsPoolsById) {
  const RouteTable table(config_);
  EXPECT_EQ(table.FindPool("b"), &config_.pools[1]);
  EXPECT_EQ(table.FindPool("other"), nullptr);
}

}  // namespace
}  // namespace sluice::config
