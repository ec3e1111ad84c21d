#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// A second attempt beside one that is slow to begin its answer. The attempts run as the test says:
// the first one at the time of `first_runs`, the second as soon as it is begun.

namespace sluice::relay {
namespace {

using ::testing::IsEmpty;

constexpr Duration kHedgeAfter = seconds(3);

class HedgeTest : public RelayTest {
 protected:
  enum class When { kInTime, kBesideTheSecond, kNever };

  HedgeTest() {
    ConfigureHedge();
    parking_lot_.while_parked = [this] {
      ++turns_;
      if (turns_ == 1 && first_ends_ == When::kInTime) branches_.Run(0);
      if (branches_.begun() == 2) {
        if (first_ends_ == When::kBesideTheSecond) branches_.Run(0);
        branches_.Run(1);
      }
      if (turns_ == cancelled_at_) cancellation_.Cancel(Cause::kClientGone, clock_.Now());
    };
  }

  void ConfigureHedge(const std::function<void(config::Pool&)>& edit = [](config::Pool&) {}) {
    Configure({"a", "b"}, [&edit](config::Pool& pool) {
      pool.hedge.after = kHedgeAfter;
      edit(pool);
    });
  }

  /// The endpoints of all requests sent, in order.
  std::string sent() const {
    std::string text;
    for (const auto& sent : transport_.sent()) text += sent->address.uri.authority.substr(0, 1);
    return text;
  }
  int failed_attempts(absl::string_view endpoint) {
    return static_cast<int>(
        endpoints_.Read(absl::StrCat("pools/chat/endpoints/", endpoint)).failed_attempts);
  }
  std::string good() const { return absl::StrCat(kHello, kStop, kDone); }

  When first_ends_ = When::kNever;
  int turns_ = 0;
  int cancelled_at_ = 0;
};

Script Failing() { return Script().Fail(Cause::kUpstreamReset); }

TEST_F(HedgeTest, IsNotMadeWhenTheFirstBeginsItsAnswerInTime) {
  first_ends_ = When::kInTime;
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(sent(), "a");
  EXPECT_EQ(branches_.begun(), 1u);
}

TEST_F(HedgeTest, IsNotMadeUnlessConfigured) {
  ConfigureHedge([](config::Pool& pool) { pool.hedge = {}; });
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(branches_.begun(), 0u) << "nor does the first one run apart";
}

TEST_F(HedgeTest, IsServedWhenItBeginsFirstAndTheOtherIsEnded) {
  transport_.Play(GoodStream());
  transport_.Play(Failing());  // what the first one hears when it is ended
  const Instant start = clock_.Now();
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_EQ(clock_.Now() - start, kHedgeAfter);
  EXPECT_EQ(endpoints_.Read("pools/chat/endpoints/a").in_flight, 0);
  EXPECT_EQ(endpoints_.Read("pools/chat/endpoints/b").in_flight, 1);
  const std::vector<ExchangeView> live = registry_.ListRunning();
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].subject->attempt, 2);
  EXPECT_THAT(live[0].endpoints_in_use(), ::testing::ElementsAre("pools/chat/endpoints/b"));
  Drive(*answer);
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(attempt_failures(), "hedge_lost -");
  EXPECT_EQ(finished().attempts.back().endpoint, "pools/chat/endpoints/b");
  EXPECT_EQ(finished().subject->attempt, 2);
  EXPECT_EQ(finished().stamps.upstream.head, start + kHedgeAfter);
}

TEST_F(HedgeTest, LosesWhenTheFirstBeginsFirstAfterAll) {
  first_ends_ = When::kBesideTheSecond;
  transport_.Play(GoodStream());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(sent(), "ab");
  EXPECT_EQ(attempt_failures(), "hedge_lost -") << "the one that served comes last";
  EXPECT_EQ(finished().attempts.back().endpoint, "pools/chat/endpoints/a");
  EXPECT_EQ(finished().attempts.back().index, 0);
  EXPECT_EQ(finished().subject->attempt, 1);
  EXPECT_EQ(finished().cause, Cause::kCompleted);
}

TEST_F(HedgeTest, SaysNothingOfTheHealthOfTheOneThatLost) {
  ConfigureHedge([](config::Pool& pool) { pool.health.consecutive_failures = 1; });
  transport_.Play(GoodStream());
  transport_.Play(Failing());
  Run();
  const auto lost = endpoints_.Read("pools/chat/endpoints/a");
  EXPECT_EQ(lost.health, upstream::Health::State::kWell);
  EXPECT_EQ(lost.failed_attempts, 0);
  EXPECT_EQ(lost.first_frame, kHedgeAfter) << "but it is known to be slow";
}

TEST_F(HedgeTest, ReplacesAFirstThatFailsMeanwhile) {
  first_ends_ = When::kBesideTheSecond;
  transport_.Play(Failing());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(attempt_failures(), "upstream_reset -");
  EXPECT_EQ(failed_attempts("a"), 1);
}

TEST_F(HedgeTest, LeavesTheFirstWhenItFailsItself) {
  transport_.Play(Failing());
  transport_.Play(GoodStream());
  parking_lot_.while_parked = [this] {
    ++turns_;
    if (turns_ == 2) branches_.Run(1);
    if (turns_ == 3) branches_.Run(0);
  };
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(sent(), "ba");
  EXPECT_EQ(attempt_failures(), "upstream_reset -");
  EXPECT_EQ(finished().attempts.back().endpoint, "pools/chat/endpoints/a");
}

TEST_F(HedgeTest, IsFollowedByAnotherAttemptWhenBothFail) {
  Configure({"a", "b", "c"}, [](config::Pool& pool) { pool.hedge.after = kHedgeAfter; });
  first_ends_ = When::kBesideTheSecond;
  transport_.Play(Failing());
  transport_.Play(Failing());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(sent(), "abc");
  EXPECT_EQ(attempt_failures(), "upstream_reset upstream_reset -");
  EXPECT_EQ(finished().subject->attempt, 3);
}

TEST_F(HedgeTest, IsWorthMoreThanAnErrorThatWouldStand) {
  ConfigureHedge([](config::Pool& pool) { pool.retry.retry_503 = false; });
  first_ends_ = When::kBesideTheSecond;
  transport_.Play(Script().Head(503, "application/json").Piece("{}").End());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(attempt_failures(), "upstream_refused_503 -");
}

TEST_F(HedgeTest, CountsInTheAttemptsOfTheExchange) {
  Configure({"a", "b", "c"}, [](config::Pool& pool) {
    pool.hedge.after = kHedgeAfter;
    pool.retry.max_attempts = 2;
  });
  first_ends_ = When::kBesideTheSecond;
  transport_.Play(Failing());
  transport_.Play(Failing());
  Run();
  EXPECT_EQ(sent(), "ab");
  EXPECT_EQ(cause(), Cause::kUpstreamReset);
}

TEST_F(HedgeTest, NeedsAnotherEndpoint) {
  Configure({"a"}, [](config::Pool& pool) { pool.hedge.after = kHedgeAfter; });
  parking_lot_.while_parked = [this] {
    if (++turns_ == 2) branches_.Run(0);
  };
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
  EXPECT_EQ(sent(), "a");
}

TEST_F(HedgeTest, NeedsATokenOfThePoolsBudget) {
  ConfigureHedge([](config::Pool& pool) { pool.hedge.ratio = 0.05; });
  for (int i = 0; i < 12; ++i) {
    turns_ = 0;
    const size_t before = branches_.begun();
    parking_lot_.while_parked = [&, before] {
      ++turns_;
      if (turns_ == 2) branches_.Run(before);  // both attempts, or the only one, have been begun
    };
    transport_.Play(GoodStream());
    if (i < 10) transport_.Play(Failing());
    RunApart();
  }
  EXPECT_EQ(transport_.sent().size(), 22u) << "ten of twelve had a second attempt";
}

TEST_F(HedgeTest, ObeysTheRetryBudget) {
  ConfigureHedge([](config::Pool& pool) { pool.retry.budget_tokens = 1; });
  retry_budgets_.OnFailure(store_.Current()->config().pools[0]);
  parking_lot_.while_parked = [this] {
    if (++turns_ == 2) branches_.Run(0);
  };
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(branches_.begun(), 1u);
}

TEST_F(HedgeTest, EndsBothWhenTheClientLeaves) {
  cancelled_at_ = 2;
  parking_lot_.while_parked = [this] {
    if (++turns_ == 2) cancellation_.Cancel(Cause::kClientGone, clock_.Now());
  };
  transport_.Play(Script().Silence());
  transport_.Play(Script().Silence());
  Run();
  EXPECT_EQ(cause(), Cause::kClientGone);
  EXPECT_EQ(attempt_failures(), "client_gone client_gone");
  EXPECT_EQ(failed_attempts("a") + failed_attempts("b"), 0);
  EXPECT_THAT(registry_.ListRunning(), IsEmpty());
}

TEST_F(HedgeTest, TheFirstRunsInItsTurnWhereThereIsNoMemoryForABranch) {
  branches_.has_memory = false;
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(sink_.body(), good());
}

TEST_F(HedgeTest, EachAttemptSendsItsOwnKeyAndHeaders) {
  config::Config config = store_.Current()->config();
  config.pools[0].endpoints[0].headers = {{"X-Endpoint", "first"}};
  config.pools[0].endpoints[1].headers = {{"X-Endpoint", "second"}};
  ConfigureAll(std::move(config));
  first_ends_ = When::kBesideTheSecond;
  transport_.Play(GoodStream());
  transport_.Play(GoodStream());
  Run();
  ASSERT_EQ(transport_.sent().size(), 2u);
  EXPECT_EQ(*transport_.sent()[0]->request.headers.Find("X-Endpoint"), "first");
  EXPECT_EQ(*transport_.sent()[1]->request.headers.Find("X-Endpoint"), "second");
}

}  // namespace
}  // namespace sluice::relay
