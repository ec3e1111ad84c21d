#include "lib/base/random.h"

#include <array>
#include <limits>
#include <set>

#include "gtest/gtest.h"

#include "tests/support/fake_random.h"

namespace sluice {
namespace {

using testing::FakeRandom;

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(RandomTest, StaysInsideTheHalfOpenRange) {
  FakeRandom random;
  random.Script({0, kMost, 0, kMost, kMost});
  EXPECT_EQ(random.Unit(), 0.0);
  EXPECT_LT(random.Unit(), 1.0);
  EXPECT_EQ(random.Below(10), 0u);
  EXPECT_EQ(random.Below(10), 9u);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomTest, IsUniform) {
  FakeRandom random;
  std::array<int, 10> below{};
  std::array<int, 10> unit{};
  for (int i = 0; i < 10'000; ++i) {
    ++below[random.Below(10)];
    ++unit[static_cast<size_t>(random.Unit() * 10)];
  }
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(below[i], 1000, 120);
    EXPECT_NEAR(unit[i], 1000, 120);
  }
}

TEST(SystemRandomTest, RepeatsNothing) {
  SystemRandom one;
  SystemRandom other;
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(one.Next());
    seen.insert(other.Next());
  }
  EXPECT_EQ(seen.size(), 2000u);
}

}  // namespace
}  // namespace sluice
