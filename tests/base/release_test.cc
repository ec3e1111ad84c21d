#include "lib/base/release.h"

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(ReleaseTest, GivesTheMemoryBack) {
  std::string text(1000, 'x');
  Release(text);
  EXPECT_EQ(text, "");
  EXPECT_EQ(text.capacity(), std::string().capacity());
}

}  // namespace
}  // namespace sluice
