#include "lib/base/rendezvous.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

struct Node {
  uint64_t id;
  double weight;
};

uint64_t Owner(uint64_t key, const std::vector<Node>& nodes) {
  uint64_t owner = 0;
  double best = -1;
  for (const Node& node : nodes) {
    const double score = RendezvousScore(key, node.id, node.weight);
    if (score > best) {
      best = score;
      owner = node.id;
    }
  }
  return owner;
}

TEST(RendezvousTest, SharesKeysByWeight) {
  const std::vector<Node> nodes = {{1, 1}, {2, 2}, {3, 5}};
  std::vector<int> keys(4);
  for (uint64_t key = 0; key < 16'000; ++key) ++keys[Owner(key, nodes)];
  EXPECT_NEAR(keys[1], 2000, 200);
  EXPECT_NEAR(keys[2], 4000, 300);
  EXPECT_NEAR(keys[3], 10'000, 300);
}

TEST(RendezvousTest, MovesOnlyTheKeysOfANodeThatGoesAway) {
  for (uint64_t key = 0; key < 2000; ++key) {
    const uint64_t before = Owner(key, {{1, 1}, {2, 1}, {3, 4}});
    if (before == 3) continue;
    EXPECT_EQ(Owner(key, {{1, 1}, {2, 1}}), before);
  }
}

TEST(RendezvousTest, MovesKeysOnlyToANodeWhoseWeightGrows) {
  int moved = 0;
  for (uint64_t key = 0; key < 10'000; ++key) {
    const uint64_t before = Owner(key, {{1, 50}, {2, 50}});
    const uint64_t after = Owner(key, {{1, 50}, {2, 60}});
    if (before == after) continue;
    ++moved;
    EXPECT_EQ(after, 2u);
  }
  EXPECT_NEAR(moved, 455, 100);  // 60/110 of them less 1/2
}

TEST(RendezvousTest, GivesNothingToAWeightOfZero) {
  for (uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(RendezvousScore(key, 1, 0), 0);
    const double score = RendezvousScore(key, 2, 1);
    EXPECT_TRUE(std::isfinite(score) && score > 0);
  }
}

TEST(RendezvousTest, IsTheSameInEveryProcess) {
  EXPECT_NEAR(RendezvousScore(1, 2, 1), RendezvousScore(1, 2, 3) / 3, 1e-12);
  EXPECT_EQ(Owner(42, {{7, 1}, {8, 1}, {9, 1}}), 7u);
}

}  // namespace
}  // namespace sluice
