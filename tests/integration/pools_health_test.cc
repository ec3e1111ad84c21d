// Endpoints that fail are taken out and come back; what is no fault of theirs does not count.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

#include "tests/integration/pools_fixture.h"

namespace sluice::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::Pair;

Script Failure() { return Script().Json("{}", "500 Oops"); }

class PoolsHealthTest : public PoolsTest {
 protected:
  /// Two endpoints that answer well; an ejection lasts as long as the test.
  void StartTwoStrict(int consecutive_failures, Duration ejection = hours(1)) {
    StartTwo([&](config::Pool& pool) {
      pool.health.consecutive_failures = consecutive_failures;
      pool.health.ejection = ejection;
      pool.health.longest_ejection = ejection;
    });
    engine_->AnswerAll(GoodStream());
    second_->AnswerAll(GoodStream());
  }

  /// So many requests, all served by their first attempt: how many by which endpoint.
  std::map<std::string, int> Spread(int requests) {
    std::map<std::string, int> spread;
    for (int i = 0; i < requests; ++i) {
      const Outcome outcome = Run();
      ExpectPassed(outcome, GoodBody());
      EXPECT_EQ(outcome.attempts(), "-");
      ++spread[outcome.record().attempts.back().endpoint];
    }
    return spread;
  }
};

TEST_F(PoolsHealthTest, AnEndpointThatFailsGetsNoMoreRequests) {
  StartTwoStrict(2);
  EndpointWatch watch(observer());
  engine_->AnswerAll(Failure());
  EXPECT_TRUE(Eventually([&] {
    ExpectPassed(Run(), GoodBody());
    return engine_->counts().requests == 2;
  }));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_EJECTED: 2 attempts failed in a row"));
  EXPECT_THAT(Spread(6), ElementsAre(Pair(Name("b"), 6)));
  EXPECT_EQ(engine_->counts().requests, 2u);
}

TEST_F(PoolsHealthTest, AStreamThatBreaksAfterTheCommitCountsAgainstItsEndpoint) {
  StartTwoStrict(1);
  EndpointWatch watch(observer());
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Fin());
  EXPECT_EQ(Run().cause(), "truncated");
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_EJECTED: 1 attempts failed in a row"));
  EXPECT_THAT(Spread(4), ElementsAre(Pair(Name("b"), 4)));
}

TEST_F(PoolsHealthTest, AnEjectedEndpointComesBackAfterATrial) {
  StartTwoStrict(1, milliseconds(1));
  EndpointWatch watch(observer());
  engine_->AnswerAll(Failure());
  EXPECT_EQ(Run().attempts(), "upstream_status -");
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_EJECTED: 1 attempts failed in a row"));
  engine_->AnswerAll(GoodStream());
  EXPECT_TRUE(Eventually([&] { return Spread(1).count(Name("a")) == 1; }));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_TRIAL: "));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_ACTIVE: it is well again"));
  EXPECT_THAT(Spread(4), ElementsAre(Pair(Name("a"), 2), Pair(Name("b"), 2)));
}

TEST_F(PoolsHealthTest, AFailedTrialEjectsAgainAndShowsNoClientTheFailure) {
  StartTwoStrict(1, milliseconds(1));
  EndpointWatch watch(observer());
  engine_->AnswerAll(Failure());
  EXPECT_TRUE(Eventually([&] {
    ExpectPassed(Run(), GoodBody());
    return engine_->counts().requests == 2;
  }));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_EJECTED: 1 attempts failed in a row"));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_TRIAL: "));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_EJECTED: it failed on trial"));
}

TEST_F(PoolsHealthTest, ProbesTakeAnEndpointOutAndBringItBackWithoutAnyClient) {
  const auto well = std::make_shared<std::atomic<bool>>(true);
  StartTwo([&](config::Pool& pool) {
    pool.endpoints[0].uri += "/prefix";
    pool.probe = {.path = "/health",
                  .interval = milliseconds(100),
                  .timeout = kPatience,
                  .unhealthy_after = 3,
                  .healthy_after = 2};
    engine_->SetResponder([well](const EngineRequest& request) {
      if (request.path() != "/prefix/health") return GoodStream();
      return *well ? Script().Json("{}") : Script().Json("{}", "503 Loading");
    });
    second_->SetResponder([](const EngineRequest& request) {
      return request.path() == "/health" ? Script().Json("{}") : GoodStream();
    });
  });
  EndpointWatch watch(observer());
  *well = false;
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"),
                                       " STATE_EJECTED: 3 probes failed in a row, the last: "
                                       "it answers 503"));
  EXPECT_THAT(Spread(4), ElementsAre(Pair(Name("b"), 4)));
  *well = true;
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_ACTIVE: it is well again"));
  EXPECT_THAT(Spread(4), ElementsAre(Pair(Name("a"), 2), Pair(Name("b"), 2)));
}

TEST_F(PoolsHealthTest, ErrorsOfClientsEjectNobody) {
  StartTwoStrict(1);
  for (const char* status : {"400 Bad Request", "404 Not Found", "413 Too Large", "422 No"}) {
    engine_->AnswerAll(Script().Json("{}", status));
    second_->AnswerAll(Script().Json("{}", status));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Run().attempts(), "-") << status;
  }
  engine_->AnswerAll(GoodStream());
  second_->AnswerAll(GoodStream());
  EXPECT_THAT(Spread(4), ElementsAre(Pair(Name("a"), 2), Pair(Name("b"), 2)));
}

TEST_F(PoolsHealthTest, APoolOfOneKeepsItsEndpoint) {
  StartOne([](config::Config& config) {
    config.pools[0].health.consecutive_failures = 1;
    config.pools[0].health.failure_ratio = 0.1;
    config.pools[0].health.ejection = hours(1);
    config.pools[0].health.longest_ejection = hours(1);
    config.pools[0].health.max_ejected_percent = 100;
  });
  engine_->AnswerAll(Failure());
  for (int i = 0; i < 25; ++i) EXPECT_EQ(Run().response.status, 500);
  ExpectPassed(RunScript(GoodStream()), GoodBody());
}

TEST_F(PoolsHealthTest, ADeadPoolGetsOneAttemptARequestOnceItsBudgetIsSpent) {
  StartTwo([](config::Pool& pool) {
    pool.health.consecutive_failures = 0;
    pool.retry.budget_tokens = 4;
    pool.retry.budget_ratio = 1;
  });
  engine_->AnswerAll(Script().Reset());
  second_->AnswerAll(Script().Reset());
  EXPECT_EQ(Run().attempts(), "upstream_reset upstream_reset");  // leaves 2 of 4 tokens
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Run().attempts(), "upstream_reset");
  EXPECT_EQ(engine_->counts().requests + second_->counts().requests, 12u);

  engine_->AnswerAll(GoodStream());
  second_->AnswerAll(GoodStream());
  for (int i = 0; i < 4; ++i) ExpectPassed(Run(), GoodBody());  // each gives back one
  engine_->AnswerAll(Script().Reset());
  second_->AnswerAll(Script().Reset());
  EXPECT_EQ(Run().attempts(), "upstream_reset upstream_reset");
}

}  // namespace
}  // namespace sluice::testing
