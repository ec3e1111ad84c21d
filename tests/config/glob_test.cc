#include "lib/config/glob.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice::config {
namespace {

TEST(GlobTest, TakesOtherBytesForThemselves) {
  EXPECT_TRUE(GlobMatches("gpt-4o", "gpt-4o"));
  EXPECT_FALSE(GlobMatches("gpt-4o", "gpt-4o-mini"));
  EXPECT_FALSE(GlobMatches("gpt-4o", "gpt-4"));
  EXPECT_FALSE(GlobMatches("gpt.4", "gpt-4"));
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
}

TEST(GlobTest, AStarStandsForAnyText) {
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("*", "anything"));
  EXPECT_TRUE(GlobMatches("gpt-*", "gpt-"));
  EXPECT_TRUE(GlobMatches("*-instruct", "llama-3-instruct"));
  EXPECT_FALSE(GlobMatches("*-instruct", "llama-3-instruct-awq"));
  EXPECT_TRUE(GlobMatches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(GlobMatches("a*b*c", "a-c-b"));
  EXPECT_TRUE(GlobMatches("**a**", "a"));
}

TEST(GlobTest, AQuestionMarkStandsForOneByte) {
  EXPECT_TRUE(GlobMatches("llama-?b", "llama-7b"));
  EXPECT_FALSE(GlobMatches("llama-?b", "llama-70b"));
  EXPECT_FALSE(GlobMatches("?", ""));
  EXPECT_TRUE(GlobMatches("*?", "a"));
  EXPECT_FALSE(GlobMatches("*?", ""));
}

TEST(GlobTest, DoesNotRunAwayOnAHostileName) {
  const std::string pattern = "*a*a*a*a*a*a*a*a*a*a*b";
  EXPECT_FALSE(GlobMatches(pattern, std::string(256, 'a')));
}

TEST(GlobTest, CountsWhatIsLiteral) {
  EXPECT_EQ(LiteralBytes("gpt-*"), 4u);
  EXPECT_EQ(LiteralBytes("*?*"), 0u);
  EXPECT_TRUE(IsGlob("a?"));
  EXPECT_TRUE(IsGlob("*"));
  EXPECT_FALSE(IsGlob("gpt-4o"));
}

}  // namespace
}  // namespace sluice::config
