#include "lib/upstream/hedge_budget.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

config::Pool PoolOf(double ratio, std::string id = "chat") {
  config::Pool pool;
  pool.id = std::move(id);
  pool.hedge = {.after = std::chrono::seconds(1), .ratio = ratio};
  return pool;
}

/// How many tokens there are, all of which it takes.
int TakeAll(HedgeBudgets& budgets, const config::Pool& pool) {
  int taken = 0;
  while (budgets.TryTake(pool)) ++taken;
  return taken;
}

TEST(HedgeBudgetTest, HasTenAtFirstAndOneForEachSoManyExchanges) {
  HedgeBudgets budgets;
  const config::Pool pool = PoolOf(0.25);
  EXPECT_EQ(TakeAll(budgets, pool), 10);
  for (int i = 0; i < 3; ++i) budgets.OnExchange(pool);
  EXPECT_EQ(TakeAll(budgets, pool), 0);
  budgets.OnExchange(pool);
  EXPECT_EQ(TakeAll(budgets, pool), 1);
}

TEST(HedgeBudgetTest, SavesUpNoMoreThanTen) {
  HedgeBudgets budgets;
  const config::Pool pool = PoolOf(1);
  EXPECT_TRUE(budgets.TryTake(pool));
  for (int i = 0; i < 100; ++i) budgets.OnExchange(pool);
  EXPECT_EQ(TakeAll(budgets, pool), 10);
}

TEST(HedgeBudgetTest, HasNoneWhereTheRatioIsZero) {
  HedgeBudgets budgets;
  EXPECT_FALSE(budgets.TryTake(PoolOf(0)));
}

TEST(HedgeBudgetTest, IsThePoolsOwnUntilThePoolIsGone) {
  HedgeBudgets budgets;
  const config::Pool pool = PoolOf(0.5);
  const config::Pool other = PoolOf(0.5, "other");
  TakeAll(budgets, pool);
  TakeAll(budgets, other);
  config::Config config;
  config.pools = {pool};
  budgets.ForgetAllBut(config);
  EXPECT_EQ(TakeAll(budgets, pool), 0);
  EXPECT_EQ(TakeAll(budgets, other), 10);
}

}  // namespace
}  // namespace sluice::upstream
