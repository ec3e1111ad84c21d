// Each way to choose an endpoint, and what makes one that came back be chosen less.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tests/integration/pools_fixture.h"

namespace sluice::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pair;

class PoolsPickersTest : public PoolsTest {
 protected:
  void StartWith(const std::function<void(config::Pool&)>& edit) {
    StartTwo(edit);
    engine_->AnswerAll(GoodStream());
    second_->AnswerAll(GoodStream());
  }
  void StartWith(config::Balance policy) {
    StartWith([policy](config::Pool& pool) { pool.balancing.policy = policy; });
  }

  /// The endpoint that serves `request`: "a".
  std::string ServedBy(const std::string& request = ChatRequest()) {
    const Outcome outcome = Run(request);
    ExpectPassed(outcome, GoodBody());
    return outcome.record().attempts.back().endpoint.substr(Name("").size());
  }
  std::map<std::string, int> Spread(int requests) {
    std::map<std::string, int> spread;
    for (int i = 0; i < requests; ++i) ++spread[ServedBy()];
    return spread;
  }

  /// A request for each of `whos` goes to the same endpoint each time, and not all to the same.
  void ExpectAffinity(const std::function<std::string(int who, int turn)>& request) {
    std::set<std::string> used;
    for (int who = 0; who < 12; ++who) {
      const std::string home = ServedBy(request(who, 0));
      used.insert(home);
      for (int turn = 1; turn < 4; ++turn) EXPECT_EQ(ServedBy(request(who, turn)), home) << who;
    }
    EXPECT_EQ(used.size(), 2u);
  }

  static std::string ChatOf(const std::string& members) {
    return PostRequest("/v1/chat/completions",
                       absl::StrCat(R"({"model":"m1","stream":true,)", members, "}"));
  }
};

TEST_F(PoolsPickersTest, WeightedIsInProportionToTheWeights) {
  StartWith([](config::Pool& pool) {
    pool.balancing.policy = config::Balance::kWeighted;
    pool.endpoints[0].weight = 3;
  });
  EXPECT_THAT(Spread(12), ElementsAre(Pair("a", 9), Pair("b", 3)));
}

TEST_F(PoolsPickersTest, OneThatCameBackStartsSlowly) {
  StartWith([](config::Pool& pool) {
    pool.balancing.policy = config::Balance::kWeighted;
    pool.health.consecutive_failures = 1;
    pool.health.ejection = pool.health.longest_ejection = milliseconds(1);
    pool.health.slow_start = hours(1);
  });
  EndpointWatch watch(observer());
  engine_->Enqueue(Script().Json("{}", "500 Oops"));
  Run();
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_EJECTED: 1 attempts failed in a row"));
  EXPECT_TRUE(Eventually([&] { return ServedBy() == "a"; })) << "its trial";
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_TRIAL: "));
  EXPECT_EQ(watch.Next(), absl::StrCat(Name("a"), " STATE_ACTIVE: it is well again"));
  const std::map<std::string, int> spread = Spread(22);
  EXPECT_GE(spread.at("b"), 20) << "a tenth of the weight";
}

TEST_F(PoolsPickersTest, TwoChoicesPreferTheOneWithLessInFlight) {
  StartWith(config::Balance::kTwoChoices);
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  std::vector<RawClient> held;
  while (engine_->counts().requests < 1) {
    held.push_back(AskAndReadHead());
    ASSERT_LT(held.size(), 100u);
  }
  ASSERT_TRUE(Eventually([&] { return InFlightAt("b") == 0; }));
  EXPECT_THAT(Spread(20), ElementsAre(Pair("b", 20)));
}

TEST_F(PoolsPickersTest, LatencyPrefersTheOneThatBeginsItsAnswersSooner) {
  StartWith(config::Balance::kLatency);
  engine_->AnswerAll(Script().Pause(milliseconds(300)).SseHead().Chunk(GoodBody()).LastChunk());
  while (engine_->counts().requests == 0 || second_->counts().requests == 0) ServedBy();
  EXPECT_GE(Spread(20)["b"], 19);
}

TEST_F(PoolsPickersTest, ConsistentHashFollowsAHeader) {
  StartWith([](config::Pool& pool) {
    pool.balancing = {.policy = config::Balance::kConsistentHash,
                      .hash_on = config::HashOn::kHeader,
                      .hash_header = "X-Session"};
  });
  ExpectAffinity([](int who, int turn) {
    return ChatRequest(true, absl::StrCat("X-Session: s", who, "\r\nX-Turn: ", turn, "\r\n"));
  });
}

TEST_F(PoolsPickersTest, ConsistentHashFollowsAUser) {
  StartWith([](config::Pool& pool) {
    pool.balancing = {.policy = config::Balance::kConsistentHash, .hash_on = config::HashOn::kUser};
  });
  ExpectAffinity([](int who, int turn) {
    return ChatOf(absl::StrCat(R"("user":"u)", who, R"(","messages":[{"role":"user","content":"t)",
                               turn, R"("}])"));
  });
}

TEST_F(PoolsPickersTest, ConsistentHashLeavesAnEndpointAboveItsLoad) {
  StartWith([](config::Pool& pool) {
    pool.balancing = {.policy = config::Balance::kConsistentHash,
                      .hash_on = config::HashOn::kHeader,
                      .hash_header = "X-Session"};
  });
  const Script hold = Script().SseHead().Chunk(ContentEvent("a")).Hold();
  engine_->AnswerAll(hold);
  second_->AnswerAll(hold);
  std::vector<RawClient> held;
  for (int i = 0; i < 8; ++i) {
    held.push_back(AskAndReadHead(nullptr, ChatRequest(true, "X-Session: one\r\n")));
  }
  const int64_t at_a = InFlightAt("a");
  EXPECT_THAT((std::vector<int64_t>{at_a, InFlightAt("b")}), Each(::testing::Ge(3)))
      << "1.25 of the mean of eight at two is five";
}

/// A conversation of so many turns: each has all of the one before.
std::string Conversation(int who, int turns) {
  std::string messages;
  for (int turn = 0; turn <= turns; ++turn) {
    absl::StrAppend(&messages, turn > 0 ? "," : "", R"({"role":"user","content":")",
                    absl::StrCat("who ", who, " turn ", turn, " "), std::string(1500, 'x'),
                    R"("})");
  }
  return absl::StrCat(R"("messages":[)", messages, "]");
}

TEST_F(PoolsPickersTest, ConsistentHashFollowsAConversation) {
  StartWith([](config::Pool& pool) {
    pool.balancing = {.policy = config::Balance::kConsistentHash,
                      .hash_on = config::HashOn::kConversation};
  });
  ExpectAffinity([](int who, int turn) { return ChatOf(Conversation(who, turn)); });
}

TEST_F(PoolsPickersTest, PrefixAffinityFollowsAPromptThatGrows) {
  StartWith(config::Balance::kPrefixAffinity);
  ExpectAffinity([](int who, int turn) { return ChatOf(Conversation(who, turn)); });
}

TEST_F(PoolsPickersTest, ManyFailuresAmongSuccessesEjectByTheirRatio) {
  StartWith([](config::Pool& pool) {
    pool.health.consecutive_failures = 0;
    pool.health.failure_ratio = 0.5;
    pool.health.ejection = pool.health.longest_ejection = hours(1);
    pool.retry.budget_tokens = 1000;
  });
  EndpointWatch watch(observer());
  int asked = 0;
  engine_->SetResponder([&asked](const EngineRequest&) {
    return ++asked % 2 == 1 ? Script().Json("{}", "500 Oops") : GoodStream();
  });
  while (engine_->counts().requests < 19) ServedBy();
  EXPECT_THAT(Spread(2), ElementsAre(Pair("a", 1), Pair("b", 1))) << "19 are too few to judge by";
  for (int i = 0; i < 6; ++i) ServedBy();
  EXPECT_THAT(watch.Next(), ::testing::StartsWith(absl::StrCat(Name("a"), " STATE_EJECTED: ")));
  EXPECT_LE(engine_->counts().requests, 22u);
  EXPECT_THAT(Spread(4), ElementsAre(Pair("b", 4)));
}

}  // namespace
}  // namespace sluice::testing
