#include "admin/text_table.h"

#include "gtest/gtest.h"

namespace sluice::admin {
namespace {

TEST(TextTableTest, LinesUpByCharactersNotBytes) {
  TextTable table({{"NAME"}, {"N", true}, {"WHY"}});
  table.AddRow({"\xc3\xa9\xc3\xa9", "7", "long words"});
  table.AddRow({"abc", "1000", ""});
  EXPECT_EQ(table.Text(),
            "NAME     N  WHY\n"
            "\xc3\xa9\xc3\xa9       7  long words\n"
            "abc   1000\n");
}

TEST(TextTableTest, IsItsHeadWithoutRows) {
  EXPECT_EQ(TextTable({{"A"}, {"B", true}}).Text(), "A  B\n");
}

TEST(FitTest, FillsAndCutsToTheWidth) {
  EXPECT_EQ(Fit("ab", 4, false), "ab  ");
  EXPECT_EQ(Fit("ab", 4, true), "  ab");
  EXPECT_EQ(Fit("abcd", 4, true), "abcd");
  EXPECT_EQ(Fit("abcde", 4, true), "abc~");
  EXPECT_EQ(Fit("\xc3\xa9\xc3\xa9\xc3\xa9", 2, false), "\xc3\xa9~");
  EXPECT_EQ(Fit("ab", 1, false), "~");
  EXPECT_EQ(Fit("ab", 0, false), "");
}

}  // namespace
}  // namespace sluice::admin
