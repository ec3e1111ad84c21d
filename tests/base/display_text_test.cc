#include "lib/base/display_text.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(DisplayTextTest, KeepsValidUtf8) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n\0b";
  EXPECT_EQ(DisplayText(text, 100), text);
}

TEST(DisplayTextTest, ReplacesEachByteThatIsNotPartOfValidUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(DisplayText("a\xFFz", 100), "a" + bad + "z");
  EXPECT_EQ(DisplayText("\x80", 100), bad);                      // a tail alone
  EXPECT_EQ(DisplayText("\xC3", 100), bad);                      // cut off
  EXPECT_EQ(DisplayText("\xC3(", 100), bad + "(");               // a lead without its tail
  EXPECT_EQ(DisplayText("\xC0\xAF", 100), bad + bad);            // over-long
  EXPECT_EQ(DisplayText("\xE0\x80\xAF", 100), bad + bad + bad);  // over-long
  EXPECT_EQ(DisplayText("\xED\xA0\x80", 100), bad + bad + bad);  // surrogate
  EXPECT_EQ(DisplayText("\xF4\x90\x80\x80", 100), bad + bad + bad + bad);  // past U+10FFFF
  EXPECT_EQ(DisplayText("\xE2\x82(", 100), bad + bad + "(");
}

TEST(DisplayTextTest, CutsBetweenCharacters) {
  EXPECT_EQ(DisplayText("abcd", 4), "abcd");
  EXPECT_EQ(DisplayText("abcd", 3), "abc");
  EXPECT_EQ(DisplayText("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(DisplayText("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
}

}  // namespace
}  // namespace sluice
