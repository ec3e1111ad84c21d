#include "admin/escape.h"

#include "gtest/gtest.h"

namespace sluice::admin {
namespace {

TEST(EscapeTest, LeavesPrintableTextAlone) {
  EXPECT_EQ(EscapeText("gpt-4 \"mini\" größe 日本 \U0001F600"),
            "gpt-4 \"mini\" größe 日本 \U0001F600");
}

TEST(EscapeTest, ShowsControlBytes) {
  EXPECT_EQ(EscapeText("a\x1b[2Jb\r\n\t\x7f"), "a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(EscapeText(absl::string_view("\0", 1)), "\\x00");
}

TEST(EscapeTest, ShowsC1ControlsThatTerminalsObey) {
  EXPECT_EQ(EscapeText("\xc2\x9b"
                       "2J"),
            "\\xc2\\x9b2J");
}

TEST(EscapeTest, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(EscapeText("\x9b"), "\\x9b");
  EXPECT_EQ(EscapeText("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(EscapeText("\xe6\x97"), "\\xe6\\x97");
  EXPECT_EQ(EscapeText("\xc0\xaf"), "\\xc0\\xaf");
}

TEST(EscapeTest, IsUnambiguous) { EXPECT_EQ(EscapeText("\\x1b"), "\\\\x1b"); }

TEST(EscapeTest, KeepsANameOneColumn) {
  EXPECT_EQ(EscapeName("my model"), "my\\x20model");
  EXPECT_EQ(EscapeName(""), "-");
}

TEST(EscapeDataTest, KeepsNewlinesAndBackslashesAlone) {
  EXPECT_EQ(EscapeData("{\"a\":\"\\n\"}\nb\tc\r\x1b[2J\xc3\xa9\xff\xc2\x9b"),
            "{\"a\":\"\\n\"}\nb\\x09c\\x0d\\x1b[2J\xc3\xa9\\xff\\xc2\\x9b");
}

}  // namespace
}  // namespace sluice::admin
