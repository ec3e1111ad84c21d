#include "lib/upstream/pickers/recent_set.h"

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

TEST(RecentSetTest, HasAtLeastTheLastHalf) {
  RecentSet set(10);
  for (uint64_t hash = 0; hash < 100; ++hash) {
    set.Add(hash);
    for (uint64_t back = 0; back < 5 && back <= hash; ++back) EXPECT_TRUE(set.Has(hash - back));
    EXPECT_LE(set.size(), 10u);
  }
  EXPECT_FALSE(set.Has(89));
}

TEST(RecentSetTest, KeepsWhatIsAddedAgain) {
  RecentSet set(10);
  for (uint64_t hash = 1; hash < 100; ++hash) {
    set.Add(0);
    set.Add(hash);
  }
  EXPECT_TRUE(set.Has(0));
}

TEST(RecentSetTest, ForgetsInTheOrderOfAdding) {
  RecentSet set(8);
  for (uint64_t hash = 0; hash < 50; ++hash) {
    set.Add(hash);
    bool newer = true;
    for (uint64_t back = 0; back <= hash; ++back) {
      const bool has = set.Has(hash - back);
      EXPECT_TRUE(newer || !has) << hash << " " << back;
      newer = has;
    }
  }
}

}  // namespace
}  // namespace sluice::upstream
