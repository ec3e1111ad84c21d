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

TEST(EndpointTableTest, LeasesEndpointsInTurnAcrossExchanges) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b", "c"});
  std::string order;
  for (int i = 0; i < 5; ++i) order += table.Acquire(pool, {})->endpoint().id;
  EXPECT_EQ(order, "abcab");
}

TEST(EndpointTableTest, NeverLeasesOneTriedBefore) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  const std::vector<std::string> tried = {"a"};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.Acquire(pool, tried)->endpoint().id, "b");
  EXPECT_TRUE(table.HasUntried(pool, tried));
}

TEST(EndpointTableTest, HasNothingWhenAllWereTried) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  const std::vector<std::string> tried = {"a", "b"};
  EXPECT_FALSE(table.Acquire(pool, tried).has_value());
  EXPECT_FALSE(table.HasUntried(pool, tried));
  EXPECT_FALSE(table.Acquire(PoolOf({}), {}).has_value());
}

TEST(EndpointTableTest, CountsLeasesUntilTheyEnd) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a"});
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 0);
  {
    std::optional<Lease> first = table.Acquire(pool, {});
    std::optional<Lease> second = table.Acquire(pool, {});
    EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 2);
    first->Release();
    first->Release();
    EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 1);
  }
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 0);
}

TEST(EndpointTableTest, CountsAMovedLeaseOnce) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  Lease a = *table.Acquire(pool, {});
  Lease b = *table.Acquire(pool, {});
  Lease moved = std::move(a);
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 1);
  moved = std::move(b);
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 0);
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/b"), 1);
}

TEST(EndpointTableTest, KeepsCountsWhenTheConfigurationChanges) {
  EndpointTable table;
  const config::Pool before = PoolOf({"a"});
  const Lease lease = *table.Acquire(before, {});
  const config::Pool after = PoolOf({"b", "a"});
  const std::vector<std::string> tried = {"b"};
  const Lease again = *table.Acquire(after, tried);
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/a"), 2);
}

TEST(EndpointTableTest, CountsAcrossThreads) {
  EndpointTable table;
  const config::Pool pool = PoolOf({"a", "b"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) table.Acquire(pool, {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.InFlight("pools/chat/endpoints/a") + table.InFlight("pools/chat/endpoints/b"), 0);
}

}  // namespace
}  // namespace sluice::upstream
