// Which pool a request goes to, and what the model is called there.

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "tests/integration/pools_fixture.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PoolsRoutesTest : public PoolsTest {
 protected:
  PoolsRoutesTest() {
    engine_ = StartEngine();
    second_ = StartEngine();
    engine_->AnswerAll(GoodStream());
    second_->AnswerAll(GoodStream());
  }

  /// The pools "one" at `uri`, and "two" at the second engine; no routes.
  config::Config TwoPools(const std::string& uri) {
    config::Config config;
    config.pools.push_back({.id = "one", .endpoints = {{"a", uri}}});
    config.pools.push_back({.id = "two", .endpoints = {{"b", second_->uri()}}});
    return config;
  }
};

TEST_F(PoolsRoutesTest, ADeadPoolSendsItsRequestsToTheFallback) {
  const RefusingPort dead;
  config::Config config = TwoPools(dead.uri());
  config.routes.push_back({.model = "*", .pool = "one", .fallbacks = {{.pool = "two"}}});
  StartGateway(config, 1);
  const Outcome outcome = Run();
  ExpectPassed(outcome, GoodBody());
  EXPECT_EQ(outcome.attempts(), "connect_failed -");
  EXPECT_EQ(outcome.record().attempts[1].endpoint, "pools/two/endpoints/b");
}

TEST_F(PoolsRoutesTest, AFallbackGetsTheClientsModelOrItsOwnNameForIt) {
  engine_->AnswerAll(Script().Json("{}", "500 Oops"));
  config::Config config = TwoPools(engine_->uri());
  config.routes.push_back({.model = "m1",
                           .targets = {{.pool = "one", .model = "large"}},
                           .fallbacks = {{.pool = "two"}}});
  StartGateway(config, 1);
  ExpectPassed(Run(), GoodBody());
  EXPECT_EQ(engine_->requests()[0].model(), "large");
  EXPECT_EQ(second_->requests()[0].model(), "m1");
}

TEST_F(PoolsRoutesTest, ARequestIdLeadsToTheSamePoolEachTime) {
  config::Config config = TwoPools(engine_->uri());
  config.routes.push_back(
      {.model = "*", .targets = {{.pool = "one", .weight = 3}, {.pool = "two", .weight = 1}}});
  StartGateway(config, 1);
  std::map<std::string, std::set<std::string>> pools;  // by request id
  std::map<std::string, int> requests;                 // by pool
  for (int i = 0; i < 200; ++i) {
    const std::string id = absl::StrCat("request-", i % 100);
    const Outcome outcome = Run(ChatRequest(true, absl::StrCat("X-Request-Id: ", id, "\r\n")));
    ExpectPassed(outcome, GoodBody());
    pools[id].insert(outcome.record().info().pool);
    ++requests[outcome.record().info().pool];
  }
  for (const auto& [id, seen] : pools) EXPECT_EQ(seen.size(), 1u) << id;
  EXPECT_GT(requests["one"], requests["two"]);
  EXPECT_GT(requests["two"], 0);
  EXPECT_EQ(engine_->counts().requests, static_cast<uint64_t>(requests["one"]));
}

TEST_F(PoolsRoutesTest, AnAliasChangesTheModelAndNoOtherByte) {
  config::Config config = TwoPools(engine_->uri());
  config.routes.push_back({.model = "gpt-*", .targets = {{.pool = "one", .model = "llama\"3"}}});
  StartGateway(config, 1);
  const std::string body =
      "{ \"messages\":[{\"role\":\"user\",\"content\":\"is it gpt-4?\\u0041\"}],\n"
      "\t\"model\" : \"gpt-4\" ,\"stream\":true, \"n\":1.0}";
  ExpectPassed(Run(PostRequest("/v1/chat/completions", body)), GoodBody());
  EXPECT_EQ(engine_->requests()[0].body,
            absl::StrReplaceAll(body, {{"\"gpt-4\"", R"("llama\"3")"}}));
}

TEST_F(PoolsRoutesTest, AHeaderChoosesAmongTheRoutesOfAModel) {
  config::Config config = TwoPools(engine_->uri());
  config.routes.push_back({"m1", "one"});
  config.routes.push_back({.model = "m1", .pool = "two", .headers = {{"X-Tier", "batch"}}});
  StartGateway(config, 1);
  EXPECT_EQ(Run().record().info().pool, "one");
  EXPECT_EQ(Run(ChatRequest(true, "x-tier: batch\r\n")).record().info().pool, "two");
}

TEST_F(PoolsRoutesTest, TellsTheModelsOfItsRoutesAndAsksNoEngine) {
  config::Config config = TwoPools(engine_->uri());
  config.routes = {{"m1", "one"}, {"m2", "two"}, {"llama-*", "two"}};
  config.pools[1].models = {"llama-8b", "other"};
  StartGateway(config, 1);
  const Outcome listed = Run(GetRequest("/v1/models"));
  EXPECT_EQ(listed.response.status, 200);
  EXPECT_THAT(listed.response.HeaderValues("Content-Type"), ElementsAre("application/json"));
  for (const char* model : {"llama-8b", "m1", "m2"}) {
    EXPECT_THAT(listed.response.body, HasSubstr(absl::StrCat("\"id\":\"", model, "\"")));
  }
  EXPECT_THAT(listed.response.body, ::testing::Not(HasSubstr("other")));

  const Outcome unknown =
      Run(PostRequest("/v1/chat/completions", R"({"model":"m3","messages":[]})"));
  ExpectError(unknown, 404, "not_found");
  EXPECT_THAT(unknown.response.body, HasSubstr("llama-8b, m1, m2"));
  EXPECT_THAT(engine_->requests(), IsEmpty());
}

}  // namespace
}  // namespace sluice::testing
