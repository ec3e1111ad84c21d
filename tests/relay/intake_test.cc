#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// Accept to route: who gets to a pool, and what the others are told.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;

class IntakeTest : public RelayTest {
 protected:
  void ExpectRefused(Request request, Cause expected, absl::string_view words) {
    const std::unique_ptr<Answer> answer = Serve(std::move(request));
    EXPECT_TRUE(answer->ends_connection());
    EXPECT_EQ(Drive(*answer), Answer::Step::kEnd);
    EXPECT_EQ(sink_.head().status, InfoOf(expected).http_status);
    EXPECT_EQ(*AnswerHeader("Content-Type"), "application/json");
    EXPECT_EQ(*AnswerHeader("Content-Length"), absl::StrCat(sink_.body().size()));
    EXPECT_THAT(sink_.body(), HasSubstr(words));
    EXPECT_EQ(cause(), expected);
    EXPECT_TRUE(transport_.sent().empty());
    EXPECT_EQ(transcript_.lines().front(), "started");
  }

  static Request WithBody(absl::string_view body) {
    Request request = ChatRequest();
    request.body = std::string(body);
    return request;
  }
};

TEST_F(IntakeTest, RecordsWhoAskedForWhat) {
  transport_.Play(GoodStream());
  Run();
  const ExchangeInfo& info = finished().info();
  EXPECT_EQ(info.client_address, "192.0.2.7:5000");
  EXPECT_EQ(info.method, "POST");
  EXPECT_EQ(info.path, "/v1/chat/completions");
  EXPECT_EQ(info.model, "lantern-8b");
  EXPECT_EQ(info.pool, "chat");
  EXPECT_EQ(info.dialect, "openai.chat");
  EXPECT_EQ(info.principal, "anonymous");
  EXPECT_TRUE(info.stream);
  EXPECT_EQ(info.config_generation, 1u);
}

TEST_F(IntakeTest, RefusesABodyThatIsNotJson) {
  ExpectRefused(WithBody("model=x"), Cause::kBadRequest, "invalid_request_error");
}

TEST_F(IntakeTest, RefusesABodyWithoutAModelByName) {
  ExpectRefused(WithBody(R"({"stream":true})"), Cause::kBadRequest, "model");
}

TEST_F(IntakeTest, RefusesInTheDialectOfThePath) {
  Request request = WithBody("{}");
  request.target = "/v1/messages";
  ExpectRefused(request, Cause::kBadRequest, "\"type\":\"error\"");
}

TEST_F(IntakeTest, RefusesAModelThatNoRouteServes) {
  config::Config config = store_.Current()->config();
  config.routes[0].model = "brook-*";
  ConfigureAll(config);
  ExpectRefused(ChatRequest(), Cause::kNotFound, "lantern-8b");
}

TEST_F(IntakeTest, RefusesARequestWithoutAModelWhenNothingServesAll) {
  config::Config config = store_.Current()->config();
  config.routes[0].model = "brook-*";
  ConfigureAll(config);
  Request request = ChatRequest();
  request.method = "GET";
  request.target = "/v1/models";
  request.body.clear();
  ExpectRefused(request, Cause::kNotFound, "without a model");
}

TEST_F(IntakeTest, RefusesAllWhenNothingIsConfigured) {
  ConfigureAll({});
  ExpectRefused(ChatRequest(), Cause::kNoCapacity, "no_capacity");
  EXPECT_NE(AnswerHeader("Retry-After"), nullptr);
}

TEST_F(IntakeTest, RefusesWhatIsOverTheLimitInFlight) {
  config::Config config = store_.Current()->config();
  config.limits.max_in_flight = 1;
  ConfigureAll(config);
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  EXPECT_EQ(proxy_.in_flight(), 1);
  {
    const std::unique_ptr<Answer> second = Serve();
    EXPECT_EQ(Drive(*second), Answer::Step::kEnd);
    EXPECT_EQ(sink_.head().status, 503);
    EXPECT_NE(AnswerHeader("Retry-After"), nullptr);
    EXPECT_EQ(cause(), Cause::kNoCapacity);
  }
  EXPECT_EQ(proxy_.in_flight(), 1);
}

TEST_F(IntakeTest, RefusesWhatBeginsAfterADrainHasBegun) {
  proxy_.Drain();
  const Instant begun = clock_.Now();
  clock_.Advance(std::chrono::seconds(1));
  ExpectRefused(ChatRequest(), Cause::kDrained, "drained");
  EXPECT_NE(AnswerHeader("Retry-After"), nullptr);
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> earlier = proxy_.Serve(ChatRequest(), begun, cancellation_);
  EXPECT_FALSE(earlier->ends_connection()) << "its head had come before";
}

TEST_F(IntakeTest, GivesClientsNoProbesWhateverTheRoutesSay) {
  Request request = ChatRequest();
  request.method = "GET";
  request.target = "/metrics?name[]=up";
  ExpectRefused(std::move(request), Cause::kNotFound, "not_found");
}

TEST_F(IntakeTest, TakesTheNextOnceAnExchangeHasFinished) {
  config::Config config = store_.Current()->config();
  config.limits.max_in_flight = 1;
  ConfigureAll(config);
  transport_.Play(GoodStream());
  Run();
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> second = Serve();
  EXPECT_FALSE(second->ends_connection());
}

TEST_F(IntakeTest, RecordsARequestThatCouldNotBeRead) {
  const std::unique_ptr<Answer> answer =
      proxy_.Refuse(Cause::kHeadTooLarge, "the head is over 32 KiB", "192.0.2.7:5000", clock_.Now(),
                    cancellation_);
  EXPECT_EQ(Drive(*answer), Answer::Step::kEnd);
  EXPECT_EQ(sink_.head().status, 431);
  EXPECT_THAT(sink_.body(), HasSubstr("over 32 KiB"));
  EXPECT_EQ(cause(), Cause::kHeadTooLarge);
  EXPECT_EQ(finished().info().client_address, "192.0.2.7:5000");
}

TEST_F(IntakeTest, PassesAnyOtherPathAndMethodByTheRouteForAll) {
  transport_.Play(Script().Head(200, "text/plain").Piece("gone").End());
  Request request;
  request.method = "DELETE";
  request.target = "/v1/files/a%2Fb?x=%20&y";
  request.headers.Add("Host", "gateway.test");
  EXPECT_EQ(Run(request), Answer::Step::kEnd);
  EXPECT_EQ(transport_.sent()[0]->request.method, "DELETE");
  EXPECT_EQ(transport_.sent()[0]->request.target, "/v1/files/a%2Fb?x=%20&y");
  EXPECT_EQ(sink_.body(), "gone");
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(finished().info().model, "");
}

TEST_F(IntakeTest, JudgesNoBodyOfAPathItDoesNotKnow) {
  HeaderList theirs;
  theirs.Add("Content-Length", "0");
  transport_.Play(Script().Head(200, "application/json", theirs).End());
  Request request;
  request.method = "DELETE";
  request.target = "/v1/files/7";
  EXPECT_EQ(Run(request), Answer::Step::kEnd);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(IntakeTest, AsksForNoModelWhenAPathIsOnlyRead) {
  transport_.Play(Script().Head(200, "application/json").Piece("{\"data\":[]}").End());
  Request request;
  request.method = "GET";
  request.target = "/v1/chat/completions";
  Run(request);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(IntakeTest, ARunningExchangeKeepsTheConfigurationItStartedWith) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Silence());
  const std::unique_ptr<Answer> answer = Serve();
  Configure({"b"}, [](config::Pool& pool) { pool.timeouts.idle = seconds(1); });
  Drive(*answer);
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(60));
  EXPECT_EQ(finished().info().config_generation, 1u);
  transport_.Play(GoodStream());
  Serve();
  EXPECT_EQ(transport_.sent()[1]->address.uri.authority, "b.test:8000");
}

}  // namespace
}  // namespace sluice::relay
