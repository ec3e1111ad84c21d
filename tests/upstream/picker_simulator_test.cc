// What each policy makes of the same load: how evenly it spreads the attempts, and how much of the
// prompts an engine has in its KV cache already. Time and chance are simulated.

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/upstream/peak_ewma.h"
#include "lib/upstream/picker.h"
#include "lib/upstream/pickers/recent_set.h"
#include "tests/support/fake_random.h"

namespace sluice::upstream {
namespace {

using config::Balance;
using std::chrono::milliseconds;

constexpr size_t kEngines = 8;
constexpr size_t kConversations = 400;  // open at once
constexpr int kTurns = 8;               // of a conversation
constexpr int kRequests = 20'000;
constexpr double kLoadFactor = 1.25;

struct Engine {
  std::string name;
  double slowness = 1;
  int in_flight = 0;
  PeakEwma first_frame{};
  RecentSet cache{4000};  // blocks; those of the open conversations do not fit into one
  double load = 0;        // in_flight, over time
  int requests = 0;
};

/// A chat whose prompt grows by some blocks a turn, after a system prompt that many share.
struct Conversation {
  uint64_t id = 0;
  int turn = 0;
  bool busy = false;
  std::vector<uint64_t> prefix{};
};

struct Ending {
  Instant at;
  size_t engine;
  size_t conversation;
  bool operator>(const Ending& other) const { return at > other.at; }
};

struct Outcome {
  double load_spread = 0;     // most loaded engine to mean, of the attempts in flight over time
  double request_spread = 0;  // the same of requests
  double hit_rate = 0;        // of the prompts' blocks
  double mean_wait = 0;       // seconds to the first frame
  bool bounded = true;        // no pick was above the load factor, rounded up
};

class Simulator {
 public:
  /// `uneven`: the last engine is four times as slow as the first.
  Simulator(Balance policy, bool uneven)
      : picker_(MakePicker({.policy = policy, .load_factor = kLoadFactor}, random_)) {
    for (size_t i = 0; i < kEngines; ++i) {
      engines_[i].name = absl::StrCat("engine", i);
      if (uneven) engines_[i].slowness = 1 + 3.0 * static_cast<double>(i) / (kEngines - 1);
    }
    for (Conversation& conversation : conversations_) Open(conversation);
  }

  Outcome Run() {
    for (int i = 0; i < kRequests; ++i) {
      PassTime(now_ + milliseconds(random_.Below(60)));
      if (endings_.size() == kConversations) PassTime(endings_.top().at);
      size_t next = random_.Below(kConversations);
      while (conversations_[next].busy) next = (next + 1) % kConversations;
      Ask(next);
    }
    return Sum();
  }

 private:
  void Open(Conversation& conversation) {
    conversation = {.id = random_.Next()};
    const uint64_t system_prompt = random_.Below(5);
    for (uint64_t i = 0; i < 3; ++i) conversation.prefix.push_back(Block(system_prompt, i));
    Grow(conversation);
  }

  void Grow(Conversation& conversation) {
    for (uint64_t more = 1 + random_.Below(5); more > 0; --more) {
      conversation.prefix.push_back(Block(conversation.id, conversation.prefix.size()));
    }
  }

  static uint64_t Block(uint64_t prompt, uint64_t place) {
    testing::FakeRandom hash(prompt * 1'000'003 + place);
    return hash.Next();
  }

  void PassTime(Instant to) {
    while (!endings_.empty() && endings_.top().at <= to) {
      const Ending ending = endings_.top();
      endings_.pop();
      SetNow(ending.at);
      --engines_[ending.engine].in_flight;
      Conversation& conversation = conversations_[ending.conversation];
      conversation.busy = false;
      if (++conversation.turn == kTurns) {
        Open(conversation);
      } else {
        Grow(conversation);
      }
    }
    SetNow(to);
  }

  void SetNow(Instant to) {
    const double seconds = std::chrono::duration<double>(to - now_).count();
    for (Engine& engine : engines_) engine.load += engine.in_flight * seconds;
    now_ = to;
  }

  void Ask(size_t number) {
    Conversation& conversation = conversations_[number];
    std::vector<Candidate> candidates;
    double in_flight = 1;
    for (const Engine& engine : engines_) {
      candidates.push_back({.name = engine.name,
                            .in_flight = engine.in_flight,
                            .first_frame = engine.first_frame.Value(now_)});
      in_flight += engine.in_flight;
    }
    const size_t picked =
        picker_->Pick({.hash = conversation.id, .prefix = conversation.prefix}, candidates);
    Engine& engine = engines_[picked];
    ++engine.in_flight;
    ++engine.requests;
    bounded_ = bounded_ && engine.in_flight < kLoadFactor * in_flight / kEngines + 1;
    Serve(engine, conversation, picked, number);
  }

  /// An engine reads what its cache has not, and then writes; all the slower the more it does.
  void Serve(Engine& engine, Conversation& conversation, size_t place, size_t number) {
    size_t hits = 0;
    while (hits < conversation.prefix.size() && engine.cache.Has(conversation.prefix[hits])) ++hits;
    for (const uint64_t block : conversation.prefix) engine.cache.Add(block);
    hits_ += hits;
    blocks_ += conversation.prefix.size();
    const double crowd = engine.slowness * (1 + 0.01 * engine.in_flight);
    const double first_frame =
        (20 + 10 * static_cast<double>(conversation.prefix.size() - hits)) * crowd;
    const double writing = (500 + 2000 * random_.Unit()) * crowd;
    engine.first_frame.Observe(milliseconds(static_cast<int64_t>(first_frame)), now_);
    waited_ += first_frame / 1000;
    conversation.busy = true;
    endings_.push(
        {now_ + milliseconds(static_cast<int64_t>(first_frame + writing)), place, number});
  }

  Outcome Sum() const {
    double load = 0;
    double most_load = 0;
    int most_requests = 0;
    for (const Engine& engine : engines_) {
      load += engine.load;
      most_load = std::max(most_load, engine.load);
      most_requests = std::max(most_requests, engine.requests);
    }
    return {.load_spread = most_load / (load / kEngines),
            .request_spread = most_requests / (double{kRequests} / kEngines),
            .hit_rate = static_cast<double>(hits_) / static_cast<double>(blocks_),
            .mean_wait = waited_ / kRequests,
            .bounded = bounded_};
  }

  testing::FakeRandom random_;
  const std::unique_ptr<Picker> picker_;
  Instant now_{};
  std::array<Engine, kEngines> engines_;
  std::array<Conversation, kConversations> conversations_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  size_t hits_ = 0;
  size_t blocks_ = 0;
  double waited_ = 0;
  bool bounded_ = true;
};

Outcome Simulate(absl::string_view name, Balance policy, bool uneven) {
  const Outcome outcome = std::make_unique<Simulator>(policy, uneven)->Run();
  std::printf(
      "%-18s %-6s  load max/mean %.2f  requests max/mean %.2f  hits %4.1f%%  wait %3.0f ms\n",
      std::string(name).c_str(), uneven ? "uneven" : "even", outcome.load_spread,
      outcome.request_spread, 100 * outcome.hit_rate, 1000 * outcome.mean_wait);
  return outcome;
}

TEST(PickerSimulatorTest, TurnsGiveTheSameNumberToAllHoweverSlow) {
  const Outcome outcome = Simulate("round robin", Balance::kRoundRobin, true);
  EXPECT_LT(outcome.request_spread, 1.01);
  EXPECT_GT(outcome.load_spread, 1.4) << "the slow ones fill up";
  EXPECT_LT(Simulate("weighted", Balance::kWeighted, true).request_spread, 1.01);
}

TEST(PickerSimulatorTest, LoadAwarePoliciesKeepTheLoadEvenHoweverSlowTheEngines) {
  EXPECT_LT(Simulate("least outstanding", Balance::kLeastOutstanding, true).load_spread, 1.05);
  EXPECT_LT(Simulate("two choices", Balance::kTwoChoices, true).load_spread, 1.15);
}

TEST(PickerSimulatorTest, LatencySendsLessToTheSlow) {
  const Outcome blind = Simulate("round robin", Balance::kRoundRobin, true);
  const Outcome aware = Simulate("latency", Balance::kLatency, true);
  EXPECT_LT(aware.mean_wait, 0.8 * blind.mean_wait);
  EXPECT_GT(aware.request_spread, 1.2) << "the fast ones do more";
}

TEST(PickerSimulatorTest, ConsistentHashKeepsConversationsTogetherWithinTheBound) {
  const Outcome blind = Simulate("round robin", Balance::kRoundRobin, false);
  for (const bool uneven : {false, true}) {
    const Outcome outcome = Simulate("consistent hash", Balance::kConsistentHash, uneven);
    EXPECT_TRUE(outcome.bounded);
    EXPECT_LT(outcome.load_spread, kLoadFactor);
    EXPECT_GT(outcome.hit_rate, 1.5 * blind.hit_rate);
  }
}

TEST(PickerSimulatorTest, PrefixAffinityHitsTwiceAsOftenAsRoundRobinWithinTheBound) {
  for (const bool uneven : {false, true}) {
    const Outcome blind = Simulate("round robin", Balance::kRoundRobin, uneven);
    const Outcome outcome = Simulate("prefix affinity", Balance::kPrefixAffinity, uneven);
    EXPECT_TRUE(outcome.bounded);
    EXPECT_LT(outcome.load_spread, kLoadFactor);
    EXPECT_GT(outcome.hit_rate, 2 * blind.hit_rate);
  }
}

}  // namespace
}  // namespace sluice::upstream
