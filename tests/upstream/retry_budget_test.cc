#include "lib/upstream/retry_budget.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

config::Pool PoolOf(int tokens, double ratio = 0.1, std::string id = "chat") {
  config::Pool pool;
  pool.id = std::move(id);
  pool.retry.budget_tokens = tokens;
  pool.retry.budget_ratio = ratio;
  return pool;
}

class RetryBudgetTest : public ::testing::Test {
 protected:
  void Fail(const config::Pool& pool, int times) {
    for (int i = 0; i < times; ++i) budgets_.OnFailure(pool);
  }
  void Succeed(const config::Pool& pool, int times) {
    for (int i = 0; i < times; ++i) budgets_.OnSuccess(pool);
  }
  RetryBudgets budgets_;
};

TEST_F(RetryBudgetTest, AllowsRetriesWhileMoreThanHalfIsThere) {
  const config::Pool pool = PoolOf(10);
  EXPECT_TRUE(budgets_.MayRetry(pool));
  Fail(pool, 4);
  EXPECT_TRUE(budgets_.MayRetry(pool));
  Fail(pool, 1);
  EXPECT_FALSE(budgets_.MayRetry(pool)) << "exactly half is not enough";
}

TEST_F(RetryBudgetTest, GivesBackTheRatioForEachSuccess) {
  const config::Pool pool = PoolOf(10);
  Fail(pool, 6);
  Succeed(pool, 10);
  EXPECT_EQ(budgets_.Read(pool), 5);
  EXPECT_FALSE(budgets_.MayRetry(pool));
  Succeed(pool, 1);
  EXPECT_EQ(budgets_.Read(pool), 5.1);
  EXPECT_TRUE(budgets_.MayRetry(pool));
}

TEST_F(RetryBudgetTest, NeverHoldsMoreThanAllNorLessThanNothing) {
  const config::Pool pool = PoolOf(10, 1);
  Succeed(pool, 100);
  EXPECT_EQ(budgets_.Read(pool), 10);
  Fail(pool, 100);
  EXPECT_EQ(budgets_.Read(pool), 0);
  Succeed(pool, 6);
  EXPECT_TRUE(budgets_.MayRetry(pool));
}

TEST_F(RetryBudgetTest, KeepsPoolsApart) {
  Fail(PoolOf(10), 10);
  EXPECT_TRUE(budgets_.MayRetry(PoolOf(10, 0.1, "other")));
}

TEST_F(RetryBudgetTest, AllowsNoRetriesWithoutTokens) {
  EXPECT_FALSE(budgets_.MayRetry(PoolOf(0)));
}

TEST_F(RetryBudgetTest, SpillsWhatIsOverWhenItShrinks) {
  Fail(PoolOf(100), 20);
  EXPECT_EQ(budgets_.Read(PoolOf(100)), 80);
  EXPECT_EQ(budgets_.Read(PoolOf(10)), 10);
  Fail(PoolOf(10), 1);
  EXPECT_EQ(budgets_.Read(PoolOf(10)), 9);
}

TEST_F(RetryBudgetTest, IsFullWhenItGrows) {
  Fail(PoolOf(10), 10);
  EXPECT_EQ(budgets_.Read(PoolOf(20)), 20);
}

TEST_F(RetryBudgetTest, ForgetsPoolsThatAreConfiguredNoMore) {
  config::Config config;
  config.pools = {PoolOf(10)};
  Fail(PoolOf(10), 10);
  Fail(PoolOf(10, 0.1, "other"), 10);
  budgets_.ForgetAllBut(config);
  EXPECT_EQ(budgets_.Read(PoolOf(10)), 0);
  EXPECT_EQ(budgets_.Read(PoolOf(10, 0.1, "other")), 10);
}

TEST_F(RetryBudgetTest, CountsAcrossThreads) {
  const config::Pool pool = PoolOf(10'000, 0.5);
  Fail(pool, 4000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Fail(pool, 1000);
      Succeed(pool, 1000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budgets_.Read(pool), 10'000 - 4000 - 4 * 1000 + 4 * 1000 * 0.5);
}

}  // namespace
}  // namespace sluice::upstream
