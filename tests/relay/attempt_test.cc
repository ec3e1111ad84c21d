#include "lib/relay/attempt.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// Which failures are followed by another attempt (ruling 5), and what the client gets when none is
// left (ruling 4).

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AttemptTest : public RelayTest {
 protected:
  AttemptTest() { Configure({"a", "b"}); }

  static Script Answering(int status, absl::string_view body = R"({"error":{"message":"theirs"}})",
                          HeaderList headers = {}) {
    return Script().Head(status, "application/json", std::move(headers)).Piece(body).End();
  }
};

struct Failure {
  std::string label;
  Script script;
  bool before_sending;  // no work was done: retried whatever the policy
};

class RetriedFailureTest : public AttemptTest, public ::testing::WithParamInterface<Failure> {};

TEST_P(RetriedFailureTest, IsFollowedByAnotherAttempt) {
  transport_.Play(GetParam().script);
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
  EXPECT_EQ(attempt_failures(), absl::StrCat(GetParam().label, " -"));
}

TEST_P(RetriedFailureTest, FollowsThePolicyAfterSending) {
  Configure({"a", "b"}, [](config::Pool& pool) { pool.retry.retry_after_send = false; });
  transport_.Play(GetParam().script);
  if (GetParam().before_sending) transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(transport_.sent().size(), GetParam().before_sending ? 2u : 1u);
}

TEST_P(RetriedFailureTest, LeavesNothingRunningUpstream) {
  transport_.Play(GetParam().script);
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_TRUE(transport_.sent()[0]->closed);
  EXPECT_EQ(endpoints_.Read("pools/chat/endpoints/a").in_flight, 0);
  EXPECT_EQ(endpoints_.Read("pools/chat/endpoints/b").in_flight, 1);
  Drive(*answer);
}

Script Status(int status) {
  return Script().Head(status, "application/json").Piece(R"({"error":{"message":"theirs"}})").End();
}

INSTANTIATE_TEST_SUITE_P(
    All, RetriedFailureTest,
    ::testing::Values(Failure{"connect_failed", Script().Refuse(), true},
                      Failure{"dns_failed", Script().Refuse(Cause::kDnsFailed), true},
                      Failure{"tls_failed", Script().Refuse(Cause::kTlsFailed), true},
                      Failure{"connect_timeout", Script().Silence().Refuse(), true},
                      Failure{"upstream_refused_503", Status(503), true},
                      Failure{"upstream_reset", Script().Fail(Cause::kUpstreamReset), false},
                      Failure{"upstream_protocol", Script().Fail(Cause::kUpstreamProtocol), false},
                      Failure{"first_frame_timeout", Script().Silence(), false},
                      Failure{"upstream_error_frame",
                              Script().Head(200, kEventStreamType).Piece(kErrorFrame).End(), false},
                      Failure{"empty_answer", Script().Head(200, kEventStreamType).End(), false},
                      Failure{"upstream_status", Status(429), false},
                      Failure{"upstream_status", Status(500), false},
                      Failure{"upstream_status", Status(502), false},
                      Failure{"upstream_status", Status(504), false},
                      Failure{"upstream_status", Status(529), false}));

class ClientErrorTest : public AttemptTest, public ::testing::WithParamInterface<int> {};

TEST_P(ClientErrorTest, IsRelayedAsItIs) {
  transport_.Play(Answering(GetParam()));
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(sink_.head().status, GetParam());
  EXPECT_EQ(sink_.body(), R"({"error":{"message":"theirs"}})");
  EXPECT_EQ(attempt_failures(), "-");
  EXPECT_EQ(cause(), Cause::kCompleted);
}

INSTANTIATE_TEST_SUITE_P(All, ClientErrorTest,
                         ::testing::Values(400, 404, 405, 409, 413, 418, 422));

TEST_F(AttemptTest, RelaysABadKeyAsItIsWithoutAnother) {
  transport_.Play(Answering(401));
  Run();
  EXPECT_EQ(sink_.head().status, 401);
  EXPECT_EQ(transport_.sent().size(), 1u);
  EXPECT_EQ(cause(), Cause::kUpstreamStatus);
}

TEST_F(AttemptTest, CountsABadKeyAgainstTheClientWhoseKeyItIs) {
  Configure({"a"},
            [](config::Pool& pool) { pool.credentials = config::Credentials::kPassThrough; });
  transport_.Play(Answering(401));
  Run();
  EXPECT_EQ(sink_.head().status, 401);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(AttemptTest, Relays503WhenThePoolDoesNotRetryIt) {
  Configure({"a", "b"}, [](config::Pool& pool) { pool.retry.retry_503 = false; });
  transport_.Play(Answering(503));
  Run();
  EXPECT_EQ(transport_.sent().size(), 1u);
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_THAT(sink_.body(), HasSubstr("theirs"));
  EXPECT_EQ(cause(), Cause::kUpstreamRefused503);
}

TEST_F(AttemptTest, TriesNoEndpointTwice) {
  Configure({"a", "b"}, [](config::Pool& pool) { pool.retry.max_attempts = 5; });
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Refuse());
  Run();
  EXPECT_EQ(attempt_failures(), "connect_failed connect_failed");
}

TEST_F(AttemptTest, MakesNoMoreAttemptsThanAllowed) {
  Configure({"a", "b", "c"}, [](config::Pool& pool) { pool.retry.max_attempts = 2; });
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Refuse());
  Run();
  EXPECT_EQ(finished().attempts.size(), 2u);
}

TEST_F(AttemptTest, SendsTheSameRequestToEachEndpoint) {
  transport_.Play(Script().Refuse());
  transport_.Play(GoodStream());
  Run();
  const auto& first = *transport_.sent()[0];
  const auto& second = *transport_.sent()[1];
  EXPECT_EQ(first.address.uri.authority, "a.test:8000");
  EXPECT_EQ(second.address.uri.authority, "b.test:8000");
  EXPECT_EQ(first.request.target, "/v1/chat/completions?trace=1");
  EXPECT_EQ(first.request.target, second.request.target);
  EXPECT_EQ(first.body, ChatRequest().body);
  EXPECT_EQ(first.body, second.body);
  ASSERT_EQ(first.request.headers.size(), second.request.headers.size());
  EXPECT_TRUE(std::equal(
      first.request.headers.begin(), first.request.headers.end(), second.request.headers.begin(),
      [](const Header& x, const Header& y) { return x.name == y.name && x.value == y.value; }));
}

TEST_F(AttemptTest, AnswersNoCapacityWhenNothingCouldBeReached) {
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Refuse(Cause::kDnsFailed));
  Run();
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_THAT(sink_.body(), HasSubstr("\"no_capacity\""));
  EXPECT_THAT(sink_.body(), Not(HasSubstr("10.0.0.1"))) << "an address of ours for the client";
  EXPECT_NE(AnswerHeader("Retry-After"), nullptr);
  EXPECT_EQ(cause(), Cause::kNoCapacity);
  EXPECT_EQ(finished().detail, "10.0.0.1:80 refused");
}

TEST_F(AttemptTest, AnswersNoCapacityWhenThePoolIsEmpty) {
  Configure({});
  Run();
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_EQ(cause(), Cause::kNoCapacity);
}

TEST_F(AttemptTest, GivesTheLastUpstreamsOwnAnswerAsItIs) {
  HeaderList headers;
  headers.Add("Retry-After", "17");
  transport_.Play(Script().Refuse());
  transport_.Play(Answering(429, R"({"error":{"message":"slow down"}})", headers));
  Run();
  EXPECT_EQ(sink_.head().status, 429);
  EXPECT_EQ(sink_.head().reason, "Too Many Requests");
  EXPECT_EQ(sink_.body(), R"({"error":{"message":"slow down"}})");
  EXPECT_EQ(*AnswerHeader("Retry-After"), "17");
  EXPECT_EQ(cause(), Cause::kUpstreamStatus);
  EXPECT_EQ(observer_.done(), 0);
}

TEST_F(AttemptTest, GivesAnEarlierAnswerWhenLaterAttemptsHaveNone) {
  HeaderList headers;
  headers.Add("Retry-After", "17");
  transport_.Play(Answering(429, R"({"error":{"message":"slow down"}})", headers));
  transport_.Play(Script().Refuse());
  Run();
  EXPECT_EQ(sink_.head().status, 429);
  EXPECT_EQ(sink_.body(), R"({"error":{"message":"slow down"}})");
  EXPECT_EQ(*AnswerHeader("Retry-After"), "17");
  EXPECT_EQ(*AnswerHeader("Content-Length"), absl::StrCat(sink_.body().size()));
  EXPECT_EQ(sink_.head().headers.Count("X-Request-Id"), 1u);
  EXPECT_EQ(cause(), Cause::kUpstreamStatus);
}

TEST_F(AttemptTest, KeepsNoErrorBodyThatIsTooLarge) {
  transport_.Play(
      Script().Head(500, "text/html").Body(std::string(kMaxHeldBytes + 1, 'x'), 4096).End());
  transport_.Play(Script().Fail(Cause::kUpstreamReset));
  Run();
  EXPECT_EQ(sink_.head().status, 502);
  EXPECT_EQ(cause(), Cause::kUpstreamReset);
}

TEST_F(AttemptTest, WaitsNoLongForTheBodyOfAnError) {
  transport_.Play(Script().Head(500, "text/html").Silence());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(1));
}

TEST_F(AttemptTest, RelaysALastErrorOfAnySize) {
  const std::string body(200'000, 'x');
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Head(500, "text/html").Body(body, 4096).End());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(sink_.head().status, 500);
  EXPECT_EQ(sink_.body(), body);
  EXPECT_EQ(cause(), Cause::kUpstreamStatus);
}

TEST_F(AttemptTest, TellsTheClientWhatTheUpstreamSaidInItsErrorFrame) {
  Configure({"a"});
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kErrorFrame).End());
  Run();
  EXPECT_EQ(sink_.head().status, 502);
  EXPECT_EQ(*AnswerHeader("Content-Type"), "application/json");
  EXPECT_THAT(sink_.body(), HasSubstr("out of memory"));
  EXPECT_EQ(cause(), Cause::kUpstreamErrorFrame);
}

TEST_F(AttemptTest, SpeaksTheDialectOfThePath) {
  Request request = ChatRequest();
  request.target = "/v1/messages";
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Refuse());
  Run(request);
  EXPECT_THAT(sink_.body(), HasSubstr("\"overloaded_error\""));
  EXPECT_THAT(sink_.body(), HasSubstr("\"type\":\"error\""));
}

TEST_F(AttemptTest, BorrowsTheBodyOnlyUntilTheHead) {
  transport_.Play(GoodStream());
  Request request = ChatRequest();
  request.body = absl::StrCat(R"({"model":"m","prompt":")", std::string(30 << 20, 'x'), "\"}");
  const size_t size = request.body.size();
  const std::unique_ptr<Answer> answer = Serve(std::move(request));
  EXPECT_EQ(transport_.sent()[0]->body.size(), size);
  EXPECT_EQ(Drive(*answer), Answer::Step::kEnd);
}

}  // namespace
}  // namespace sluice::relay
