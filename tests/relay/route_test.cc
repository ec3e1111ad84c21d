#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// Where a request goes: aliases, fallbacks, the list of models, retry budgets.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RouteTest : public RelayTest {
 protected:
  /// Pools `chat` and `spare`, of one endpoint each.
  void ConfigureTwoPools(config::Route route) {
    config::Config config;
    for (const char* id : {"chat", "spare"}) {
      config.pools.push_back(
          {.id = id, .endpoints = {{"a", absl::StrCat("http://", id, ".test:8000")}}});
    }
    config.routes = {std::move(route)};
    ConfigureAll(std::move(config));
  }

  std::string HostOf(size_t attempt) const {
    return transport_.sent().at(attempt)->address.uri.host;
  }
};

TEST_F(RouteTest, RewritesTheModelAndNoOtherByte) {
  ConfigureTwoPools(
      {.model = "lantern-8b", .targets = {{.pool = "chat", .model = "meta/lantern"}}});
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(transport_.sent().at(0)->body,
            R"({"model":"meta/lantern","stream":true,"messages":[]})");
  EXPECT_EQ(finished().info().model, "lantern-8b");
}

TEST_F(RouteTest, AnAliasAndAskUsageChangeTheSameBody) {
  ConfigureTwoPools({.model = "*", .targets = {{.pool = "chat", .model = "x"}}});
  config::Config config = store_.Current()->config();
  config.pools[0].ask_usage = true;
  ConfigureAll(std::move(config));
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(transport_.sent().at(0)->body,
            R"({"stream_options":{"include_usage":true},"model":"x","stream":true,"messages":[]})");
}

TEST_F(RouteTest, FallsBackToTheNextPoolBeforeTheCommit) {
  ConfigureTwoPools({.model = "*",
                     .targets = {{.pool = "chat"}},
                     .fallbacks = {{.pool = "spare", .model = "small"}}});
  transport_.Play(Script().Refuse());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(HostOf(0), "chat.test");
  EXPECT_EQ(HostOf(1), "spare.test");
  EXPECT_THAT(transport_.sent().at(0)->body, HasSubstr("lantern-8b"));
  EXPECT_THAT(transport_.sent().at(1)->body, HasSubstr("\"model\":\"small\""));
  EXPECT_EQ(finished().attempts.at(1).endpoint, "pools/spare/endpoints/a");
}

TEST_F(RouteTest, FallsBackFromAnErrorThatWouldHaveBeenTheAnswer) {
  ConfigureTwoPools({.model = "*", .pool = "chat", .fallbacks = {{.pool = "spare"}}});
  transport_.Play(Script().Head(500, "text/plain").Piece("oops").End());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_THAT(sink_.body(), Not(HasSubstr("oops")));
}

TEST_F(RouteTest, DoesNotFallBackFromAnAnswerThatIsTheClientsFault) {
  ConfigureTwoPools({.model = "*", .pool = "chat", .fallbacks = {{.pool = "spare"}}});
  transport_.Play(Script().Head(400, "text/plain").Piece("bad").End());
  Run();
  EXPECT_EQ(sink_.head().status, 400);
  EXPECT_EQ(transport_.sent().size(), 1u);
}

TEST_F(RouteTest, FallsBackFromAPoolThatIsEmptyOrFull) {
  ConfigureTwoPools({.model = "*", .pool = "chat", .fallbacks = {{.pool = "spare"}}});
  config::Config config = store_.Current()->config();
  config.pools[0].endpoints.clear();
  ConfigureAll(std::move(config));
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(HostOf(0), "spare.test");
}

TEST_F(RouteTest, AnswersWithTheBestAnswerWhenAllPoolsFail) {
  ConfigureTwoPools({.model = "*", .pool = "chat", .fallbacks = {{.pool = "spare"}}});
  transport_.Play(Script().Head(500, "text/plain").Piece("oops").End());
  transport_.Play(Script().Refuse());
  Run();
  EXPECT_EQ(sink_.head().status, 500);
  EXPECT_EQ(sink_.body(), "oops");
}

TEST_F(RouteTest, PassesOnTheSoonestRetryAfterOfAllAnswers) {
  ConfigureTwoPools({.model = "*", .pool = "chat", .fallbacks = {{.pool = "spare"}}});
  HeaderList soon, late;
  soon.Add("Retry-After", "7");
  late.Add("Retry-After", "120");
  const auto refusing = [](const HeaderList& headers) {
    return Script().Head(429, "text/plain", headers).Piece("slow down").End();
  };
  transport_.Play(refusing(soon));
  transport_.Play(refusing(late));
  Run();
  EXPECT_EQ(sink_.head().status, 429);
  EXPECT_EQ(*AnswerHeader("Retry-After"), "7");
}

TEST_F(RouteTest, ListsTheModelsOfItsRoutes) {
  ConfigureTwoPools({.model = "lantern-8b", .pool = "chat"});
  Request request = ChatRequest();
  request.method = "GET";
  request.target = "/v1/models";
  request.body.clear();
  const std::unique_ptr<Answer> answer = Serve(request);
  EXPECT_FALSE(answer->ends_connection());
  Drive(*answer);
  EXPECT_EQ(sink_.head().status, 200);
  EXPECT_THAT(sink_.body(), HasSubstr(R"({"object":"list","data":[{"id":"lantern-8b",)"));
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_TRUE(transport_.sent().empty());
}

TEST_F(RouteTest, ListsOnlyWhatThePrincipalMayUseAndAsAnthropicDoesIfAsked) {
  ConfigureTwoPools({.model = "lantern-8b", .pool = "chat"});
  config::Config config = store_.Current()->config();
  config.principals = {{.id = "*", .models = {"other"}}};
  ConfigureAll(std::move(config));
  Request request = ChatRequest();
  request.method = "GET";
  request.target = "/v1/models?limit=10";
  request.headers.Add("anthropic-version", "2023-06-01");
  Run(request);
  EXPECT_EQ(sink_.body(), R"({"data":[],"has_more":false,"first_id":null,"last_id":null})");
}

TEST_F(RouteTest, LeavesTheListToTheUpstreamWhenRoutesNameNoModel) {
  transport_.Play(Script().Head(200, "application/json").Piece("{}").End());
  Request request = ChatRequest();
  request.method = "GET";
  request.target = "/v1/models";
  Run(request);
  EXPECT_EQ(sink_.body(), "{}");
}

TEST_F(RouteTest, TellsWhichModelsThereAre) {
  ConfigureTwoPools({.model = "gpt-4o", .pool = "chat"});
  Run();
  EXPECT_EQ(sink_.head().status, 404);
  EXPECT_THAT(sink_.body(), HasSubstr("`lantern-8b` is not served here; there are: gpt-4o"));
}

TEST_F(RouteTest, StopsRetryingWhenThePoolsBudgetIsSpent) {
  Configure({"a", "b"}, [](config::Pool& pool) {
    pool.retry.budget_tokens = 2;
    pool.health.consecutive_failures = 0;
  });
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Refuse());
  RunApart();
  EXPECT_EQ(transport_.sent().size(), 1u) << "one token of two is not more than half";
  RunApart();
  EXPECT_EQ(transport_.sent().size(), 2u) << "each request still has its first attempt";
}

TEST_F(RouteTest, SendsTheHeadersOfTheEndpointAndOfNoOther) {
  Configure({"a", "b"}, [](config::Pool& pool) {
    pool.endpoints[0].headers = {{"x-tenant", "one"}};
  });
  transport_.Play(Script().Refuse());
  transport_.Play(GoodStream());
  Request request = ChatRequest();
  request.headers.Add("X-Tenant", "client");
  Run(request);
  for (const auto& sent : transport_.sent()) {
    const bool first = sent->address.uri.host == "a.test";
    EXPECT_EQ(*sent->request.headers.Find("x-tenant"), first ? "one" : "client");
  }
}

}  // namespace
}  // namespace sluice::relay
