#include "server/resume_token.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice::server {
namespace {

TEST(ResumeTokenTest, ComesBackFromItsText) {
  const ResumeToken token{0xfedcba9876543210, 42};
  EXPECT_EQ(ParseResumeToken(ToString(token)), token);
  const ResumeToken largest{UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(ParseResumeToken(ToString(largest)), largest);
}

TEST(ResumeTokenTest, RefusesAnythingElse) {
  const std::string text = ToString({1, 2});
  for (const std::string& bad :
       {std::string(), text + "0", text.substr(1), "0x" + text.substr(2), " " + text.substr(1),
        "-" + text.substr(1), std::string(32, 'g'), std::string(32, 'A')}) {
    EXPECT_EQ(ParseResumeToken(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace sluice::server
