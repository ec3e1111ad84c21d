#include "lib/upstream/round_robin.h"

#include <vector>

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

TEST(RoundRobinTest, TakesCandidatesInTurn) {
  const auto any = [](size_t) { return true; };
  EXPECT_EQ(PickRoundRobin(0, 3, any), 0u);
  EXPECT_EQ(PickRoundRobin(1, 3, any), 1u);
  EXPECT_EQ(PickRoundRobin(5, 3, any), 2u);
}

TEST(RoundRobinTest, GoesRoundTheRingToTheNextEligibleOne) {
  EXPECT_EQ(PickRoundRobin(2, 3, [](size_t i) { return i == 1; }), 1u);
}

TEST(RoundRobinTest, FindsNothingAmongNoneEligible) {
  EXPECT_EQ(PickRoundRobin(4, 3, [](size_t) { return false; }), std::nullopt);
  EXPECT_EQ(PickRoundRobin(4, 0, [](size_t) { return true; }), std::nullopt);
}

}  // namespace
}  // namespace sluice::upstream
