#include "lib/upstream/outcome.h"

#include <chrono>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

using std::chrono::seconds;

/// What each cause says by itself; the others ask the status or the error.
const std::map<Cause, Outcome>& ByCauseAlone() {
  static const auto& table = *new std::map<Cause, Outcome>{
      {Cause::kClientGone, Outcome::kNeutral},
      {Cause::kBadRequest, Outcome::kNeutral},
      {Cause::kRequestTimeout, Outcome::kNeutral},
      {Cause::kBodyTooLarge, Outcome::kNeutral},
      {Cause::kUriTooLong, Outcome::kNeutral},
      {Cause::kHeadTooLarge, Outcome::kNeutral},
      {Cause::kUnauthenticated, Outcome::kNeutral},
      {Cause::kForbidden, Outcome::kNeutral},
      {Cause::kNotFound, Outcome::kNeutral},
      {Cause::kOverLimit, Outcome::kNeutral},
      {Cause::kNoCapacity, Outcome::kNeutral},
      {Cause::kConnectFailed, Outcome::kFailure},
      {Cause::kTlsFailed, Outcome::kFailure},
      {Cause::kDnsFailed, Outcome::kFailure},
      {Cause::kUpstreamReset, Outcome::kFailure},
      {Cause::kUpstreamRefused503, Outcome::kNeutral},
      {Cause::kUpstreamProtocol, Outcome::kFailure},
      {Cause::kTruncated, Outcome::kFailure},
      {Cause::kEmptyAnswer, Outcome::kFailure},
      {Cause::kConnectTimeout, Outcome::kFailure},
      {Cause::kFirstFrameTimeout, Outcome::kFailure},
      {Cause::kIdleTimeout, Outcome::kFailure},
      {Cause::kFrameIdleTimeout, Outcome::kFailure},
      {Cause::kHoldBudgetSpent, Outcome::kNeutral},
      {Cause::kCancelledByOperator, Outcome::kNeutral},
      {Cause::kDrained, Outcome::kNeutral},
      {Cause::kClientTooSlow, Outcome::kNeutral},
      {Cause::kInternal, Outcome::kNeutral},
      {Cause::kHedgeLost, Outcome::kNeutral},
  };
  return table;
}

TEST(OutcomeTest, OfMostCausesIsTheSameWhateverTheStatus) {
  int asks_more = 0;
  for (const CauseInfo& row : AllCauses()) {
    const auto expected = ByCauseAlone().find(row.cause);
    if (expected == ByCauseAlone().end()) {
      ++asks_more;
      continue;
    }
    for (const int status : {0, 200, 401, 500}) {
      EXPECT_EQ(OutcomeOf(row.cause, status, "server_error"), expected->second)
          << row.label << status;
    }
  }
  EXPECT_EQ(asks_more, 3) << "completed, upstream_status and upstream_error_frame";
}

TEST(OutcomeTest, OfAnAnswerFollowsItsStatus) {
  for (const Cause cause : {Cause::kCompleted, Cause::kUpstreamStatus}) {
    for (const int status : {200, 201, 204, 301, 304}) {
      EXPECT_EQ(OutcomeOf(cause, status), Outcome::kSuccess) << status;
    }
    for (const int status : {0, 400, 401, 402, 403, 404, 408, 413, 422, 429, 499, 503, 529}) {
      EXPECT_EQ(OutcomeOf(cause, status), Outcome::kNeutral) << status;
    }
    for (const int status : {500, 501, 502, 504, 520, 599}) {
      EXPECT_EQ(OutcomeOf(cause, status), Outcome::kFailure) << status;
    }
  }
}

TEST(OutcomeTest, OfAnErrorFrameFollowsTheErrorAndNotTheStatus) {
  const auto outcome = [](absl::string_view type, absl::string_view code) {
    return OutcomeOf(Cause::kUpstreamErrorFrame, 200, type, code);
  };
  EXPECT_EQ(outcome("server_error", ""), Outcome::kFailure);
  EXPECT_EQ(outcome("", ""), Outcome::kFailure);
  EXPECT_EQ(outcome("overloaded_error", ""), Outcome::kNeutral);
  EXPECT_EQ(outcome("", "429"), Outcome::kNeutral);
  EXPECT_EQ(outcome("invalid_request_error", "context_length_exceeded"), Outcome::kNeutral);
  EXPECT_EQ(outcome("authentication_error", ""), Outcome::kNeutral);
}

TEST(StatusOfErrorTest, KnowsTheErrorsOfTheUsualApis) {
  const struct {
    absl::string_view type, code;
    int status;
  } rows[] = {
      // OpenAI
      {"invalid_request_error", "", 400},
      {"invalid_request_error", "invalid_api_key", 401},
      {"invalid_request_error", "model_not_found", 404},
      {"invalid_request_error", "context_length_exceeded", 400},
      {"insufficient_quota", "insufficient_quota", 402},
      {"tokens", "rate_limit_exceeded", 429},
      {"requests", "", 429},
      {"server_error", "", 500},
      {"server_error", "overloaded", 529},
      {"service_unavailable", "slow_down", 503},
      // Anthropic
      {"authentication_error", "", 401},
      {"billing_error", "", 402},
      {"permission_error", "", 403},
      {"not_found_error", "", 404},
      {"request_too_large", "", 413},
      {"rate_limit_error", "", 429},
      {"api_error", "", 500},
      {"timeout_error", "", 504},
      {"overloaded_error", "", 529},
      // Google
      {"RESOURCE_EXHAUSTED", "429", 429},
      {"UNAVAILABLE", "", 503},
      {"PERMISSION_DENIED", "", 403},
      {"INTERNAL", "", 500},
      // vLLM, SGLang, TGI
      {"BadRequestError", "400", 400},
      {"NotFoundError", "404", 404},
      {"InternalServerError", "500", 500},
      {"overloaded", "", 529},
      {"validation", "", 400},
      {"generation", "", 500},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(StatusOfError(row.type, row.code), row.status) << row.type << "/" << row.code;
  }
}

TEST(StatusOfErrorTest, IgnoresCodesThatAreNoErrorStatus) {
  EXPECT_EQ(StatusOfError("rate_limit_error", "1302"), 429);
  EXPECT_EQ(StatusOfError("rate_limit_error", "200"), 429);
  EXPECT_EQ(StatusOfError("", "99999999999999"), 500);
}

TEST(StatusOfErrorTest, TakesAnythingAPeerMayWrite) {
  for (const absl::string_view name :
       {"error", "Error", "exception", "-", "\xff\x00", "errorerror"}) {
    EXPECT_EQ(StatusOfError(name, name), 500) << name;
  }
  EXPECT_EQ(StatusOfError(std::string(100'000, 'e'), ""), 500);
}

TEST(RestOfTest, IsWhatABusyEndpointAsksFor) {
  const auto rest = [](int status, bool with_key) {
    ResponseHead head;
    head.status = status;
    head.headers.Add("Retry-After", "7");
    return RestOf(head, with_key, absl::UnixEpoch());
  };
  for (const int status : {503, 529}) {
    EXPECT_EQ(rest(status, true), seconds(7)) << status;
    EXPECT_EQ(rest(status, false), seconds(7)) << status;
  }
  EXPECT_EQ(rest(429, false), seconds(7));
  EXPECT_EQ(rest(429, true), std::nullopt) << "the key is to rest";
  EXPECT_EQ(rest(500, false), std::nullopt);
  ResponseHead silent;
  silent.status = 503;
  EXPECT_EQ(RestOf(silent, false, absl::UnixEpoch()), std::nullopt);
}

}  // namespace
}  // namespace sluice::upstream
