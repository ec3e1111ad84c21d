#include "lib/admission/rate_limit_headers.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::admission {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> LinesOf(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const Header& header : RateLimitHeaders(verdict)) {
    lines.push_back(absl::StrCat(header.name, ": ", header.value));
  }
  return lines;
}

TEST(RateLimitHeadersTest, WritesDurationsAsOpenAiDoes) {
  EXPECT_EQ(OpenAiDuration(Duration(0)), "0s");
  EXPECT_EQ(OpenAiDuration(milliseconds(17)), "17ms");
  EXPECT_EQ(OpenAiDuration(seconds(1)), "1s");
  EXPECT_EQ(OpenAiDuration(milliseconds(1500)), "1.5s");
  EXPECT_EQ(OpenAiDuration(milliseconds(59'999)), "59.999s");
  EXPECT_EQ(OpenAiDuration(minutes(6)), "6m0s");
  EXPECT_EQ(OpenAiDuration(milliseconds(90'951)), "1m30.951s");
  EXPECT_EQ(OpenAiDuration(hours(1) + milliseconds(250)), "1h0m0.25s");
  EXPECT_EQ(OpenAiDuration(nanoseconds(1)), "1ms") << "never too early";
  EXPECT_EQ(OpenAiDuration(milliseconds(999) + nanoseconds(1)), "1s");
}

TEST(RateLimitHeadersTest, RoundsRetryAfterUpToAtLeastOneSecond) {
  EXPECT_EQ(RetryAfterSeconds(Duration(0)), "1");
  EXPECT_EQ(RetryAfterSeconds(nanoseconds(1)), "1");
  EXPECT_EQ(RetryAfterSeconds(seconds(2)), "2");
  EXPECT_EQ(RetryAfterSeconds(seconds(2) + nanoseconds(1)), "3");
}

TEST(RateLimitHeadersTest, TellsBothKindsThatHaveALimit) {
  Verdict verdict{.requests = {.limit = 60, .remaining = 59, .full_after = seconds(1)},
                  .tokens = {.limit = 150000, .remaining = 149984, .full_after = minutes(6)}};
  EXPECT_THAT(
      LinesOf(verdict),
      ElementsAre("x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 59",
                  "x-ratelimit-reset-requests: 1s", "x-ratelimit-limit-tokens: 150000",
                  "x-ratelimit-remaining-tokens: 149984", "x-ratelimit-reset-tokens: 6m0s"));
  verdict.requests = {};
  EXPECT_THAT(LinesOf(verdict), ElementsAre("x-ratelimit-limit-tokens: 150000",
                                            "x-ratelimit-remaining-tokens: 149984",
                                            "x-ratelimit-reset-tokens: 6m0s"));
  EXPECT_THAT(LinesOf({}), IsEmpty());
}

TEST(RateLimitHeadersTest, AsksToRetryOnlyWhenRefusedAndAfterTheLongerWait) {
  Verdict verdict{.requests = {.limit = 1, .retry_after = milliseconds(2500)},
                  .tokens = {.limit = 1, .retry_after = seconds(1)}};
  EXPECT_EQ(RateLimitHeaders(verdict).Find("Retry-After"), nullptr);
  verdict.kind = Verdict::kRequestsSpent;
  EXPECT_EQ(*RateLimitHeaders(verdict).Find("Retry-After"), "3");
  verdict.tokens.retry_after = seconds(9);
  EXPECT_EQ(*RateLimitHeaders(verdict).Find("Retry-After"), "9");
}

}  // namespace
}  // namespace sluice::admission
