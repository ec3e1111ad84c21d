#include "lib/upstream/picker.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/upstream/pickers/policies.h"
#include "tests/support/fake_random.h"

namespace sluice::upstream {
namespace {

using config::Balance;
using Candidates = std::vector<Candidate>;

class PickerTest : public ::testing::Test {
 protected:
  void Use(Balance policy, double load_factor = 1.25) {
    picker_ = MakePicker({.policy = policy, .load_factor = load_factor}, random_);
  }

  std::string Pick(const Candidates& candidates, const PickKey& key = {}) {
    return std::string(candidates[picker_->Pick(key, candidates)].name);
  }
  std::string PickFor(const std::vector<uint64_t>& prefix, const Candidates& candidates) {
    return Pick(candidates, PickKey{.prefix = prefix});
  }

  /// The names picked in `count` picks, one after the other.
  std::string Picks(int count, const Candidates& candidates) {
    std::string picks;
    for (int i = 0; i < count; ++i) picks += Pick(candidates);
    return picks;
  }
  std::map<std::string, int> Shares(int count, const Candidates& candidates) {
    std::map<std::string, int> shares;
    for (int i = 0; i < count; ++i) ++shares[Pick(candidates)];
    return shares;
  }

  testing::FakeRandom random_;
  std::unique_ptr<Picker> picker_;
};

TEST_F(PickerTest, PicksTheOnlyCandidateWhateverThePolicy) {
  for (const Balance policy :
       {Balance::kRoundRobin, Balance::kWeighted, Balance::kLeastOutstanding, Balance::kTwoChoices,
        Balance::kLatency, Balance::kConsistentHash, Balance::kPrefixAffinity}) {
    Use(policy);
    const std::vector<uint64_t> prefix = {1, 2};
    EXPECT_EQ(Pick({{.name = "a", .in_flight = 9}}), "a");
    EXPECT_EQ(Pick({{.name = "a", .weight = 0.1}}, {.hash = 7, .prefix = prefix}), "a");
  }
}

using RoundRobinPickerTest = PickerTest;

TEST_F(RoundRobinPickerTest, TakesTurnsWhateverTheWeights) {
  Use(Balance::kRoundRobin);
  EXPECT_EQ(Picks(7, {{.name = "a", .weight = 5}, {.name = "b"}, {.name = "c"}}), "abcabca");
}

TEST_F(RoundRobinPickerTest, PassesOverOneInItsSlowStart) {
  Use(Balance::kRoundRobin);
  const auto shares = Shares(110, {{.name = "a"}, {.name = "b", .warmth = 0.1}});
  EXPECT_EQ(shares.at("b"), 10);
}

TEST_F(RoundRobinPickerTest, OwesNothingToOneThatWasAway) {
  Use(Balance::kRoundRobin);
  Picks(3, {{.name = "a"}, {.name = "b"}, {.name = "c"}});
  Picks(100, {{.name = "a"}, {.name = "b"}});
  const auto shares = Shares(30, {{.name = "a"}, {.name = "b"}, {.name = "c"}});
  EXPECT_NEAR(shares.at("c"), 10, 1);
}

TEST_F(RoundRobinPickerTest, KeepsItsTurnsWhileEndpointsComeAndGo) {
  Use(Balance::kRoundRobin);
  for (int i = 0; i < 1000; ++i) {
    const std::string passing = absl::StrCat("x", i);
    Pick({{.name = "a"}, {.name = "b"}, {.name = passing}});
  }
  const auto shares = Shares(100, {{.name = "a"}, {.name = "b"}});
  EXPECT_NEAR(shares.at("a"), 50, 1);
}

using WeightedPickerTest = PickerTest;

TEST_F(WeightedPickerTest, SharesByWeightWithTheTurnsOfTheHeavyApart) {
  Use(Balance::kWeighted);
  const Candidates candidates = {{.name = "a", .weight = 5}, {.name = "b"}, {.name = "c"}};
  EXPECT_EQ(Picks(14, candidates), "aabacaaaabacaa");  // as nginx has it
}

TEST_F(WeightedPickerTest, FollowsTheNameNotThePlace) {
  Use(Balance::kWeighted);
  const Candidate a{.name = "a"};
  const Candidate b{.name = "b"};
  std::string picks;
  for (int i = 0; i < 4; ++i) picks += i % 2 == 0 ? Pick({a, b}) : Pick({b, a});
  EXPECT_EQ(picks, "abab");
}

TEST_F(WeightedPickerTest, CountsTheSlowStart) {
  Use(Balance::kWeighted);
  const auto shares =
      Shares(30, {{.name = "a", .weight = 2}, {.name = "b", .weight = 2, .warmth = 0.5}});
  EXPECT_EQ(shares.at("a"), 20);
}

using LeastOutstandingPickerTest = PickerTest;

TEST_F(LeastOutstandingPickerTest, PicksTheLeastLoadForItsShare) {
  Use(Balance::kLeastOutstanding);
  EXPECT_EQ(Pick({{.name = "a", .in_flight = 2}, {.name = "b", .in_flight = 1}}), "b");
  EXPECT_EQ(Pick({{.name = "a", .weight = 4, .in_flight = 2}, {.name = "b", .in_flight = 1}}), "a");
  EXPECT_EQ(Pick({{.name = "a", .weight = 4, .warmth = 0.1, .in_flight = 2},
                  {.name = "b", .in_flight = 1}}),
            "b");
}

TEST_F(LeastOutstandingPickerTest, BreaksTiesFairly) {
  Use(Balance::kLeastOutstanding);
  const auto shares = Shares(3000, {{.name = "w", .in_flight = 1},
                                    {.name = "a"},
                                    {.name = "b"},
                                    {.name = "c", .weight = 2, .in_flight = 1}});
  EXPECT_EQ(shares.count("w"), 0u);
  for (const char* name : {"a", "b", "c"}) EXPECT_NEAR(shares.at(name), 1000, 120) << name;
}

using TwoChoicesPickerTest = PickerTest;

TEST_F(TwoChoicesPickerTest, NeverPicksTheWorstOfAll) {
  Use(Balance::kTwoChoices);
  const auto shares = Shares(1000, {{.name = "a", .in_flight = 1},
                                    {.name = "b", .in_flight = 2},
                                    {.name = "c", .in_flight = 3}});
  EXPECT_EQ(shares.count("c"), 0u);
  EXPECT_NEAR(shares.at("a"), 667, 60);
}

TEST_F(TwoChoicesPickerTest, DrawsIdleEndpointsByShare) {
  Use(Balance::kTwoChoices);
  const auto shares =
      Shares(4000, {{.name = "a", .weight = 6}, {.name = "b"}, {.name = "c", .warmth = 1}});
  EXPECT_NEAR(shares.at("a"), 3000, 150);
  EXPECT_NEAR(shares.at("b"), 500, 100);
}

TEST_F(TwoChoicesPickerTest, ComparesLoadForItsShare) {
  Use(Balance::kTwoChoices);
  EXPECT_EQ(Shares(100, {{.name = "a", .weight = 4, .in_flight = 3}, {.name = "b", .in_flight = 1}})
                .at("a"),
            100);
}

using LatencyPickerTest = PickerTest;

TEST_F(LatencyPickerTest, PicksTheShorterWait) {
  using std::chrono::milliseconds;
  Use(Balance::kLatency);
  const auto picks_a = [&](int in_flight_a, int in_flight_b) {
    return Shares(100, {{.name = "a", .in_flight = in_flight_a, .first_frame = milliseconds(10)},
                        {.name = "b", .in_flight = in_flight_b, .first_frame = milliseconds(35)}})
               .count("a") == 1;
  };
  EXPECT_TRUE(picks_a(0, 0));
  EXPECT_TRUE(picks_a(2, 0));
  EXPECT_FALSE(picks_a(3, 0));
  EXPECT_TRUE(picks_a(3, 1));
}

TEST_F(LatencyPickerTest, TriesAnUnknownLatencyWithOneRequestAtATime) {
  Use(Balance::kLatency);
  const Candidate known{.name = "k", .in_flight = 50, .first_frame = std::chrono::seconds(1)};
  EXPECT_EQ(Picks(20, {known, {.name = "u"}}), std::string(20, 'u'));
  EXPECT_EQ(Picks(20, {known, {.name = "u", .in_flight = 1}}), std::string(20, 'k'));
  EXPECT_EQ(Picks(20, {{.name = "v", .in_flight = 2}, {.name = "u", .in_flight = 1}}),
            std::string(20, 'u'));
}

class ConsistentHashPickerTest : public PickerTest {
 protected:
  ConsistentHashPickerTest() { Use(Balance::kConsistentHash); }
  std::string Of(uint64_t hash, const Candidates& candidates) {
    return Pick(candidates, {.hash = hash});
  }
};

TEST_F(ConsistentHashPickerTest, SendsAHashWhereItWentBefore) {
  for (uint64_t hash = 0; hash < 200; ++hash) {
    const std::string first = Of(hash, {{.name = "a"}, {.name = "b"}, {.name = "c"}});
    EXPECT_EQ(Of(hash, {{.name = "c"}, {.name = "a"}, {.name = "b"}}), first);
  }
}

TEST_F(ConsistentHashPickerTest, SharesHashesByWeight) {
  std::map<std::string, int> shares;
  for (uint64_t hash = 0; hash < 4000; ++hash) {
    ++shares[Of(hash, {{.name = "a"}, {.name = "b", .weight = 3}})];
  }
  EXPECT_NEAR(shares.at("b"), 3000, 150);
}

TEST_F(ConsistentHashPickerTest, MovesOnlyTheHashesOfAnEndpointThatIsGone) {
  int moved = 0;
  for (uint64_t hash = 0; hash < 1000; ++hash) {
    const std::string before = Of(hash, {{.name = "a"}, {.name = "b"}, {.name = "c"}});
    const std::string after = Of(hash, {{.name = "a"}, {.name = "c"}});
    if (before == "b") {
      ++moved;
    } else {
      EXPECT_EQ(after, before);
    }
  }
  EXPECT_NEAR(moved, 333, 60);
}

TEST_F(ConsistentHashPickerTest, GoesToTheNextEndpointAboveTheLoadBound) {
  // 13 in flight with the one to come, 1.25 times the mean is 5.4: the sixth is let in.
  const auto crowd = [](int a) {
    return Candidates{{.name = "a", .in_flight = a},
                      {.name = "b", .in_flight = (12 - a) / 2},
                      {.name = "c", .in_flight = 12 - a - (12 - a) / 2}};
  };
  int moved = 0;
  for (uint64_t hash = 0; hash < 300; ++hash) {
    const std::string home = Of(hash, {{.name = "a"}, {.name = "b"}, {.name = "c"}});
    if (home != "a") continue;
    EXPECT_EQ(Of(hash, crowd(5)), "a");
    const std::string next = Of(hash, crowd(6));
    EXPECT_EQ(next, Of(hash, {{.name = "b"}, {.name = "c"}})) << "the next one is always the same";
    ++moved;
  }
  EXPECT_GT(moved, 50);
}

TEST_F(ConsistentHashPickerTest, AlwaysHasAnEndpointWithinTheBound) {
  for (int round = 0; round < 2000; ++round) {
    Candidates candidates;
    double attempts = 1;
    double shares = 0;
    const std::string names = "abcdef";
    for (size_t i = 0; i <= random_.Below(6); ++i) {
      candidates.push_back({.name = absl::string_view(names).substr(i, 1),
                            .weight = 1 + random_.Below(9) * 1.0,
                            .in_flight = static_cast<int>(random_.Below(20))});
      attempts += candidates.back().in_flight;
      shares += candidates.back().weight;
    }
    Use(Balance::kConsistentHash, 1.0);
    const Candidate& picked = candidates[picker_->Pick({.hash = random_.Next()}, candidates)];
    EXPECT_LE(picked.in_flight + 1, std::ceil(attempts * picked.weight / shares + 1e-9));
  }
}

TEST_F(ConsistentHashPickerTest, BalancesARequestWithoutAHashByTwoChoices) {
  EXPECT_EQ(Picks(20, {{.name = "a", .in_flight = 1}, {.name = "b"}}), std::string(20, 'b'));
  EXPECT_EQ(Shares(100, {{.name = "a"}, {.name = "b"}}).size(), 2u);
}

class PrefixAffinityPickerTest : public PickerTest {
 protected:
  PrefixAffinityPickerTest() { Use(Balance::kPrefixAffinity); }
  /// Makes `name` see `prefix`.
  void Show(const std::string& name, const std::vector<uint64_t>& prefix) {
    ASSERT_EQ(PickFor(prefix, {{.name = name}}), name);
  }
  static Candidates Abc(int a = 0, int b = 0, int c = 0) {
    return {{.name = "a", .in_flight = a},
            {.name = "b", .in_flight = b},
            {.name = "c", .in_flight = c}};
  }
};

TEST_F(PrefixAffinityPickerTest, PrefersTheLongestPrefixSeen) {
  for (int i = 0; i < 10; ++i) {
    Use(Balance::kPrefixAffinity);
    Show("a", {1, 2});
    Show("b", {1, 2, 3, 4});
    Show("c", {1});
    EXPECT_EQ(PickFor({1, 2, 3, 4, 5}, Abc()), "b");
  }
}

TEST_F(PrefixAffinityPickerTest, FindsEveryLengthOfMatch) {
  for (size_t length = 0; length <= 9; ++length) {
    std::vector<uint64_t> prompt;
    for (uint64_t block = 0; block < 9; ++block) prompt.push_back(1000 * (length + 1) + block);
    const auto start = [&](size_t count) {
      return std::vector<uint64_t>(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(count));
    };
    Show("a", start(length));
    if (length > 0) Show("b", start(length - 1));
    // b is idle, so that it wins unless a has seen more.
    EXPECT_EQ(PickFor(prompt, {{.name = "a", .in_flight = 1},
                               {.name = "b", .in_flight = 0},
                               {.name = "z", .in_flight = 9}}),
              length > 0 ? "a" : "b");
  }
}

TEST_F(PrefixAffinityPickerTest, RemembersItsOwnPicks) {
  const std::string home = PickFor({7, 8}, Abc());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(PickFor({7, 8, 9}, Abc()), home);
}

TEST_F(PrefixAffinityPickerTest, GoesToTheNextBestAboveTheLoadBound) {
  Show("a", {1, 2, 3});
  Show("b", {1, 2});
  EXPECT_EQ(PickFor({1, 2, 3}, Abc(5, 4, 3)), "a") << "6 is 1.25 times the mean, rounded up";
  Use(Balance::kPrefixAffinity);
  Show("a", {1, 2, 3});
  Show("b", {1, 2});
  EXPECT_EQ(PickFor({1, 2, 3}, Abc(6, 4, 2)), "b");
  Use(Balance::kPrefixAffinity);
  Show("a", {1, 2, 3});
  Show("b", {1, 2});
  EXPECT_EQ(PickFor({1, 2, 3}, Abc(6, 6, 0)), "c");
}

TEST_F(PrefixAffinityPickerTest, TakesTheLeastLoadForAPromptNobodyHasSeen) {
  Show("a", {1, 2, 3});
  EXPECT_EQ(PickFor({4, 5}, Abc(2, 1, 2)), "b");
  EXPECT_EQ(Pick(Abc(2, 2, 1)), "c");
  std::map<std::string, int> shares;
  for (uint64_t i = 0; i < 300; ++i) ++shares[PickFor({100 + i}, Abc())];
  for (const char* name : {"a", "b", "c"}) EXPECT_NEAR(shares[name], 100, 40);
}

TEST_F(PrefixAffinityPickerTest, ForgetsWhatWasLongAgo) {
  picker_ = PrefixAffinityPicker(1.25, random_, 8);
  Show("a", {1, 2});
  EXPECT_EQ(PickFor({1, 2}, Abc(1, 0, 1)), "a");
  for (uint64_t block = 10; block < 18; ++block) Show("a", {block});
  EXPECT_EQ(PickFor({1, 2}, Abc(1, 0, 1)), "b");
}

}  // namespace
}  // namespace sluice::upstream
