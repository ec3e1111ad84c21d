#include "lib/upstream/endpoint_table.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

config::Pool PoolOf(std::vector<std::string> ids) {
  config::Pool pool;
  pool.id = "chat";
  for (const std::string& id : ids) pool.endpoints.push_back({id, "http://127.0.0.1:1/" + id});
  return pool;
}

constexpr auto kAny = [](const config::Endpoint&) { return true; };

TEST(EndpointTableTest, LeasesEndpointsInTurnAcrossExchanges) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b", "c"});
  std::string order;
  for (int i = 0; i < 5; ++i) order += table.Acquire(pool, kAny)->endpoint().id;
  EXPECT_EQ(order, "abcab");
}

TEST(EndpointTableTest, LeasesEligibleEndpointsOnly) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  const auto is_b = [](const config::Endpoint& endpoint) { return endpoint.id == "b"; };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.Acquire(pool, is_b)->endpoint().id, "b");
}

TEST(EndpointTableTest, HasNothingWhenNoneIsEligible) {
  EndpointTable table;
  const auto none = [](const config::Endpoint&) { return false; };
  EXPECT_FALSE(table.Acquire(PoolOf({"a", "b"}), none).has_value());
  EXPECT_FALSE(table.Acquire(PoolOf({}), kAny).has_value());
}

TEST(EndpointTableTest, CountsLeasesUntilTheyEnd) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a"});
  EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 0);
  {
    std::optional<Lease> first = table.Acquire(pool, kAny);
    std::optional<Lease> second = table.Acquire(pool, kAny);
    EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 2);
    first->Release();
    first->Release();
    EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 1);
  }
  EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 0);
}

TEST(EndpointTableTest, LeasesNoDrainingEndpoint) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  EXPECT_TRUE(table.SetDraining("pools/chat/endpoints/a", true));
  EXPECT_FALSE(table.SetDraining("pools/chat/endpoints/a", true));
  EXPECT_FALSE(table.Takes(pool, pool.endpoints[0]));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.Acquire(pool, kAny)->endpoint().id, "b");
  EXPECT_TRUE(table.SetDraining("pools/chat/endpoints/a", false));
  EXPECT_EQ(table.Acquire(pool, kAny)->endpoint().id, "a");
}

TEST(EndpointTableTest, ForgetsTheDrainOfAnEndpointThatIsConfiguredNoMore) {
  EndpointTable table;
  config::Config config;
  config.pools.push_back(PoolOf({"a", "b"}));
  std::optional<Lease> lease = table.Acquire(config.pools[0], kAny);
  ASSERT_EQ(lease->endpoint().id, "a");
  table.SetDraining("pools/chat/endpoints/a", true);
  table.SetDraining("pools/chat/endpoints/b", true);
  const config::Pool both = config.pools[0];
  config.pools[0].endpoints.clear();
  table.ForgetAllBut(config);
  EXPECT_TRUE(table.Takes(both, both.endpoints[0]));
  EXPECT_TRUE(table.Takes(both, both.endpoints[1]));
  EXPECT_EQ(table.ReadAll().size(), 1u) << "a is in use still";
  lease.reset();
  table.ForgetAllBut(config);
  EXPECT_TRUE(table.ReadAll().empty());
}

TEST(EndpointTableTest, CountsAMovedLeaseOnce) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  Lease a = *table.Acquire(pool, kAny);
  Lease b = *table.Acquire(pool, kAny);
  Lease moved = std::move(a);
  EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 1);
  moved = std::move(b);
  EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 0);
  EXPECT_EQ(table.Read("pools/chat/endpoints/b").in_flight, 1);
}

TEST(EndpointTableTest, KeepsCountsWhenTheConfigurationChanges) {
  EndpointTable table;
  const config::Pool before = PoolOf({"a"});
  const Lease lease = *table.Acquire(before, kAny);
  const config::Pool after = PoolOf({"b", "a"});
  const Lease again =
      *table.Acquire(after, [](const config::Endpoint& endpoint) { return endpoint.id == "a"; });
  EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight, 2);
}

TEST(EndpointTableTest, CountsAcrossThreads) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) table.Acquire(pool, kAny);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.Read("pools/chat/endpoints/a").in_flight +
                table.Read("pools/chat/endpoints/b").in_flight,
            0);
}

}  // namespace
}  // namespace sluice::upstream
