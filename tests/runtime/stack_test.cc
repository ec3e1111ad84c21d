#include "lib/runtime/stack.h"

#include <cstddef>

#include "gtest/gtest.h"

namespace sluice::runtime {
namespace {

constexpr size_t kSize = size_t{16} << 10;

TEST(StackTest, ReleasesWhatLiesBelowAndKeepsTheRest) {
  Stack stack(kSize);
  ASSERT_NE(stack.bottom(), nullptr);
  stack.bottom()[0] = 'x';
  stack.top()[-1] = 'x';
  stack.ReleaseBelow(stack.top() - 1);
  EXPECT_EQ(stack.bottom()[0], 0);
  EXPECT_EQ(stack.top()[-1], 'x');
}

TEST(StackDeathTest, APageBelowItFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Stack stack(kSize);
        volatile char* below = stack.bottom() - 1;
        *below = 'x';
      },
      "");
}

}  // namespace
}  // namespace sluice::runtime
