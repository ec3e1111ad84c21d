#include "lib/exchange/cancellation.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(CancellationTest, KeepsTheFirstCauseAndItsDetail) {
  Cancellation cancellation;
  EXPECT_EQ(cancellation.cause(), std::nullopt);
  EXPECT_EQ(cancellation.fired_at(), std::nullopt);
  const Instant first = Instant() + std::chrono::seconds(7);
  EXPECT_TRUE(cancellation.Cancel(Cause::kClientGone, first, "first"));
  EXPECT_FALSE(cancellation.Cancel(Cause::kDrained, first + std::chrono::seconds(1), "second"));
  EXPECT_EQ(cancellation.fired_at(), first);
  EXPECT_EQ(cancellation.cause(), Cause::kClientGone);
  EXPECT_EQ(cancellation.detail(), "first");
}

TEST(CancellationTest, WakesOnceAndAtOnceWhenItWasBefore) {
  int woken = 0;
  Cancellation cancellation;
  cancellation.OnCancel([&] { ++woken; });
  cancellation.Cancel(Cause::kClientGone, Instant());
  cancellation.Cancel(Cause::kClientGone, Instant());
  EXPECT_EQ(woken, 1);
  cancellation.OnCancel([&] { ++woken; });
  EXPECT_EQ(woken, 2);
}

TEST(CancellationTest, WakesNobodyWhoDetached) {
  int woken = 0;
  Cancellation cancellation;
  cancellation.OnCancel([&] { ++woken; });
  cancellation.Detach();
  EXPECT_TRUE(cancellation.Cancel(Cause::kClientGone, Instant()));
  EXPECT_EQ(woken, 0);
}

TEST(CancellationTest, HasOneWinnerAmongManyThreads) {
  Cancellation cancellation;
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { winners += cancellation.Cancel(Cause::kDrained, Instant()) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
}

}  // namespace
}  // namespace sluice
