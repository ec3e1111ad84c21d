#include "lib/http/grammar.h"

#include "gtest/gtest.h"

namespace sluice::http {
namespace {

TEST(GrammarTest, KnowsTokens) {
  for (const absl::string_view text : {"GET", "x", "X-Request-Id", "!#$%&'*+-.^_`|~09"}) {
    EXPECT_TRUE(IsToken(text)) << text;
  }
  for (const absl::string_view text :
       {"", "a b", "a:", "a\r", "(", "a\"", "\xc3\xa9", "a\t", "@"}) {
    EXPECT_FALSE(IsToken(text)) << text;
  }
}

TEST(GrammarTest, KnowsText) {
  for (const absl::string_view text : {"", "a b\tc", "\xc3\xa9"}) EXPECT_TRUE(IsText(text)) << text;
  for (const absl::string_view text : {"a\r", "a\n", "\x7f", "\x1f"}) {
    EXPECT_FALSE(IsText(text)) << text;
  }
  EXPECT_FALSE(IsText(absl::string_view("\0", 1)));
}

TEST(GrammarTest, KnowsTargets) {
  for (const absl::string_view text : {"/", "*", "/a?b=%20", "http://h/"}) {
    EXPECT_TRUE(IsTarget(text)) << text;
  }
  for (const absl::string_view text : {"", "/a b", "/a\t", "/\r\n"}) {
    EXPECT_FALSE(IsTarget(text)) << text;
  }
}

TEST(GrammarTest, KnowsAuthorities) {
  for (const absl::string_view text : {"h", "gateway.example", "10.0.0.1:80", "my_host-1:65535",
                                       "[::1]", "[::ffff:1.2.3.4]:8080"}) {
    EXPECT_TRUE(IsAuthority(text)) << text;
  }
  for (const absl::string_view text :
       {"",    ":80", "a@b",  "a:b", "a:",  "a:1:2",  "a:123456", "a b", "a,b",  "a/b",
        "a?b", "a#b", "[::1", "[]",  "[g]", "[::1]x", "[::1]:",   "::1", "a%41", "\xc3\xa9"}) {
    EXPECT_FALSE(IsAuthority(text)) << text;
  }
}

}  // namespace
}  // namespace sluice::http
