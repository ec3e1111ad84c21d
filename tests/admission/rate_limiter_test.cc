#include "lib/admission/rate_limiter.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"

namespace sluice::admission {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class RateLimiterTest : public ::testing::Test {
 protected:
  Verdict Admit(const config::Rate& rate) { return limiter_.Admit("alice", "m", rate); }
  void Settle(const config::Rate& rate, int64_t tokens) {
    limiter_.Settle("alice", "m", rate, tokens);
  }

  testing::FakeClock clock_;
  RateLimiter limiter_{clock_};
};

TEST_F(RateLimiterTest, AdmitsAMinutesRequestsAtOnceAndThenAsTheyComeBack) {
  const config::Rate rate = {.requests_per_minute = 6};
  for (int left = 5; left >= 0; --left) {
    const Verdict verdict = Admit(rate);
    EXPECT_EQ(verdict.kind, Verdict::kOk);
    EXPECT_EQ(verdict.requests.remaining, left);
    EXPECT_EQ(verdict.requests.full_after, seconds(10) * (6 - left));
  }
  const Verdict refused = Admit(rate);
  EXPECT_EQ(refused.kind, Verdict::kRequestsSpent);
  EXPECT_EQ(
      refused.requests,
      (Budget{.limit = 6, .remaining = 0, .full_after = minutes(1), .retry_after = seconds(10)}));
  EXPECT_EQ(refused.retry_after(), seconds(10));

  clock_.Advance(seconds(10) - milliseconds(1));
  EXPECT_EQ(Admit(rate).kind, Verdict::kRequestsSpent);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Admit(rate).kind, Verdict::kOk) << "what was refused took nothing";
  EXPECT_EQ(Admit(rate).kind, Verdict::kRequestsSpent);
}

TEST_F(RateLimiterTest, HoldsNoMoreThanAMinutesWorth) {
  const config::Rate rate = {.requests_per_minute = 2};
  const config::Rate tokens = {.tokens_per_minute = 1};
  for (int i = 0; i < 10; ++i) limiter_.Settle(absl::StrCat("in-debt-", i), "m", tokens, 100);
  Admit(rate);  // it is looked at after those, so not forgotten before it is used
  clock_.Advance(minutes(30));
  EXPECT_EQ(Admit(rate).requests.remaining, 1);
  EXPECT_EQ(Admit(rate).requests.remaining, 0);
  EXPECT_EQ(Admit(rate).kind, Verdict::kRequestsSpent);
}

TEST_F(RateLimiterTest, CountsExactlyWhereAMinuteDoesNotDivide) {
  for (const int64_t limit : {1, 7, 13, 997, 10007}) {
    const std::string principal = absl::StrCat("p", limit);
    const config::Rate rate = {.requests_per_minute = limit};
    for (int64_t i = 1; i <= limit; ++i) {
      const Verdict verdict = limiter_.Admit(principal, "m", rate);
      ASSERT_EQ(verdict.kind, Verdict::kOk) << i << " of " << limit;
      ASSERT_EQ(verdict.requests.remaining, limit - i);
    }
    EXPECT_EQ(limiter_.Admit(principal, "m", rate).kind, Verdict::kRequestsSpent) << limit;
  }
}

TEST_F(RateLimiterTest, AdmitsWhileAnyTokenIsLeftAndRefusesUntilADebtIsPaid) {
  const config::Rate rate = {.tokens_per_minute = 600};
  EXPECT_EQ(Admit(rate).tokens, (Budget{.limit = 600, .remaining = 600}));
  Settle(rate, 599);
  EXPECT_EQ(Admit(rate).tokens.remaining, 1);
  Settle(rate, 101);
  const Verdict refused = Admit(rate);
  EXPECT_EQ(refused.kind, Verdict::kTokensSpent);
  EXPECT_EQ(refused.tokens.remaining, 0);
  EXPECT_EQ(refused.tokens.full_after, seconds(70));
  EXPECT_GT(refused.retry_after(), seconds(10)) << "the balance must be above 0";
  EXPECT_LT(refused.retry_after(), seconds(10) + milliseconds(1));
  clock_.Advance(refused.retry_after());
  EXPECT_EQ(Admit(rate).kind, Verdict::kOk);
}

TEST_F(RateLimiterTest, RefusalForTokensTakesNoRequest) {
  const config::Rate rate = {.requests_per_minute = 2, .tokens_per_minute = 60};
  Settle(rate, 60);
  EXPECT_EQ(Admit(rate).requests.remaining, 2);
  clock_.Advance(seconds(1));
  EXPECT_EQ(Admit(rate).requests.remaining, 1);
}

TEST_F(RateLimiterTest, NamesTheKindToWaitLongerFor) {
  const config::Rate rate = {.requests_per_minute = 1, .tokens_per_minute = 60};
  Admit(rate);
  Settle(rate, 90);
  Verdict verdict = Admit(rate);
  EXPECT_EQ(verdict.kind, Verdict::kRequestsSpent);
  EXPECT_EQ(verdict.retry_after(), minutes(1));
  Settle(rate, 60);
  verdict = Admit(rate);
  EXPECT_EQ(verdict.kind, Verdict::kTokensSpent);
  EXPECT_GT(verdict.retry_after(), seconds(90));
}

TEST_F(RateLimiterTest, PrincipalsAndModelsAreEachOnTheirOwn) {
  const config::Rate rate = {.requests_per_minute = 1};
  EXPECT_EQ(limiter_.Admit("alice", "m", rate).kind, Verdict::kOk);
  EXPECT_EQ(limiter_.Admit("alice", "n", rate).kind, Verdict::kOk);
  EXPECT_EQ(limiter_.Admit("bob", "m", rate).kind, Verdict::kOk);
  EXPECT_EQ(limiter_.Admit("alice", "m", rate).kind, Verdict::kRequestsSpent);
  EXPECT_EQ(limiter_.Admit("alicem", "", rate).kind, Verdict::kOk);
}

TEST_F(RateLimiterTest, WithoutALimitNothingIsCounted) {
  EXPECT_EQ(Admit({}).kind, Verdict::kOk);
  Settle({}, 1000);
  EXPECT_FALSE(limiter_.ExceedsNow("alice", "m", {}, 1000));
  EXPECT_EQ(limiter_.size(), 0u);
  EXPECT_EQ(Admit({.tokens_per_minute = 5}).requests, Budget());
}

TEST_F(RateLimiterTest, StaysFilledToTheSamePartWhenALimitChanges) {
  Settle({.tokens_per_minute = 600}, 300);
  EXPECT_EQ(Admit({.tokens_per_minute = 60}).tokens.remaining, 30);
  EXPECT_EQ(Admit({.tokens_per_minute = 6000}).tokens.remaining, 3000);
  Settle({.tokens_per_minute = 6000}, 3000);
  EXPECT_EQ(Admit({.tokens_per_minute = 600}).kind, Verdict::kTokensSpent);
}

TEST_F(RateLimiterTest, DebtIsNeverMoreThanAnHour) {
  const config::Rate rate = {.tokens_per_minute = 60};
  Settle(rate, std::numeric_limits<int64_t>::max());
  Settle(rate, std::numeric_limits<int64_t>::max());
  clock_.Advance(hours(1) - seconds(1));
  EXPECT_EQ(Admit(rate).kind, Verdict::kTokensSpent);
  clock_.Advance(seconds(2));
  EXPECT_EQ(Admit(rate).kind, Verdict::kOk);
}

TEST_F(RateLimiterTest, ReportOfLessThanNothingGivesNothing) {
  const config::Rate rate = {.tokens_per_minute = 60};
  Settle(rate, 60);
  Settle(rate, -60);
  EXPECT_EQ(Admit(rate).kind, Verdict::kTokensSpent);
}

TEST_F(RateLimiterTest, RunningStreamExceedsWhenItHasUsedMoreThanTheBalance) {
  const config::Rate rate = {.tokens_per_minute = 600};
  EXPECT_FALSE(limiter_.ExceedsNow("alice", "m", rate, 600));
  EXPECT_TRUE(limiter_.ExceedsNow("alice", "m", rate, 601));
  Settle(rate, 500);
  EXPECT_FALSE(limiter_.ExceedsNow("alice", "m", rate, 100));
  EXPECT_TRUE(limiter_.ExceedsNow("alice", "m", rate, 101));
  clock_.Advance(seconds(1));
  EXPECT_FALSE(limiter_.ExceedsNow("alice", "m", rate, 110)) << "10 tokens came back";
  EXPECT_TRUE(limiter_.ExceedsNow("alice", "m", rate, std::numeric_limits<int64_t>::max()));
}

TEST_F(RateLimiterTest, ForgetsWhoHasFullBuckets) {
  const config::Rate rate = {.requests_per_minute = 60, .tokens_per_minute = 60};
  constexpr int kAtOnce = 100;
  for (int i = 0; i < kAtOnce * 100; ++i) {
    const std::string principal = absl::StrCat("p", i);
    limiter_.Admit(principal, "m", rate);
    clock_.Advance(Duration(seconds(1)) / kAtOnce);  // each request is paid back in 1 s
    ASSERT_LE(limiter_.size(), kAtOnce * 2u + 4) << i;
  }
  limiter_.Settle("in-debt", "m", rate, 600);
  clock_.Advance(minutes(5));
  for (size_t i = 0; i < kAtOnce * 2; ++i) limiter_.Admit("alice", "m", rate);
  EXPECT_EQ(limiter_.size(), 2u);
  EXPECT_EQ(limiter_.Admit("in-debt", "m", rate).kind, Verdict::kTokensSpent);
}

}  // namespace
}  // namespace sluice::admission
