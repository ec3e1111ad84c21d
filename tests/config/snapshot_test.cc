#include "lib/config/snapshot.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace sluice::config {
namespace {

Snapshot WithRoutes(std::vector<Route> routes) {
  Config config;
  for (const char* id : {"exact", "short", "long", "any"}) {
    config.pools.push_back({.id = id});
  }
  config.routes = std::move(routes);
  return Snapshot(std::make_shared<Version>(Version{.config = std::move(config)}), Secrets(), 1);
}

std::string PoolOf(const Snapshot& snapshot, absl::string_view model) {
  const Pool* pool = snapshot.PoolForModel(model);
  return pool == nullptr ? "none" : pool->id;
}

TEST(SnapshotTest, PrefersExactThenTheLongestPrefixThenAny) {
  const Snapshot snapshot =
      WithRoutes({{"*", "any"}, {"gpt-*", "short"}, {"gpt-4*", "long"}, {"gpt-4o", "exact"}});
  EXPECT_EQ(PoolOf(snapshot, "gpt-4o"), "exact");
  EXPECT_EQ(PoolOf(snapshot, "gpt-4o-mini"), "long");
  EXPECT_EQ(PoolOf(snapshot, "gpt-4"), "long");
  EXPECT_EQ(PoolOf(snapshot, "gpt-3"), "short");
  EXPECT_EQ(PoolOf(snapshot, "llama"), "any");
}

TEST(SnapshotTest, SendsARequestWithoutAModelOnlyToTheRouteForAny) {
  EXPECT_EQ(PoolOf(WithRoutes({{"*", "any"}}), ""), "any");
  EXPECT_EQ(PoolOf(WithRoutes({{"gpt-*", "short"}}), ""), "none");
}

TEST(SnapshotTest, FindsNoPoolWhenNoRouteMatches) {
  const Snapshot snapshot = WithRoutes({{"gpt-4", "exact"}, {"gpt-4-*", "long"}});
  EXPECT_EQ(PoolOf(snapshot, "gpt-4o"), "none");
  EXPECT_EQ(PoolOf(snapshot, "gpt"), "none");
}

TEST(SnapshotTest, FindsPoolsById) {
  const Snapshot snapshot = WithRoutes({});
  EXPECT_EQ(snapshot.FindPool("short"), &snapshot.config().pools[1]);
  EXPECT_EQ(snapshot.FindPool("other"), nullptr);
}

}  // namespace
}  // namespace sluice::config
