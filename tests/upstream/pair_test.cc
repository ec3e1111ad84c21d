#include "lib/upstream/pair.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_random.h"

namespace sluice::upstream {
namespace {

class PairTest : public ::testing::Test {
 protected:
  void Use(const std::vector<std::string>& endpoints, const std::vector<std::string>& keys) {
    config::Pool pool;
    pool.id = "chat";
    config::Secrets secrets;
    for (const std::string& id : endpoints) {
      pool.endpoints.push_back({.id = id, .uri = "http://127.0.0.1:1/", .max_in_flight = 1});
    }
    for (const std::string& id : keys) {
      pool.keys.push_back({.id = id, .env = "KEY"});
      secrets.Add("chat", id, Secret("sk-" + id));
    }
    config::Config config;
    config.pools = {pool};
    snapshot_ =
        std::make_unique<config::Snapshot>(std::make_shared<config::Version>(config::Version{
                                               .config = std::move(config), .generation = 1}),
                                           std::move(secrets), 1);
  }
  const config::Pool& pool() const { return snapshot_->config().pools[0]; }

  /// "endpoint/key" of the next pair, or "" when `lacking_` says why there is none; as PairRemains
  /// has it.
  std::string Next() {
    const bool remains = PairRemains(endpoints_, keys_, *snapshot_, pool(), tried_);
    auto acquired = AcquirePair(endpoints_, keys_, *snapshot_, pool(), tried_);
    const auto* pair = std::get_if<Pair>(&acquired);
    EXPECT_EQ(remains, pair != nullptr);
    lacking_ = pair == nullptr ? std::optional(std::get<Shortage>(acquired)) : std::nullopt;
    return pair == nullptr ? "" : pair->lease.id() + "/" + std::string(pair->key_id());
  }
  void Refuse(size_t key) {
    KeyUse(keys_, *snapshot_, pool(), pool().keys[key]).SeeError("", "401");
  }

  testing::FakeClock clock_;
  testing::FakeRandom random_;
  EndpointTable endpoints_{clock_, random_};
  KeyRing keys_{clock_, random_};
  std::unique_ptr<config::Snapshot> snapshot_;
  Tried tried_;
  std::optional<Shortage> lacking_;
};

TEST_F(PairTest, HasNoKeyWhereThePoolHasNone) {
  Use({"a", "b"}, {});
  EXPECT_EQ(Next(), "a/");
  EXPECT_EQ(Next(), "b/");
}

TEST_F(PairTest, TakesKeysAndEndpointsInTurn) {
  Use({"a", "b", "c"}, {"k1", "k2"});
  EXPECT_EQ(Next(), "a/k1");
  EXPECT_EQ(Next(), "b/k2");
  EXPECT_EQ(Next(), "c/k1");
}

TEST_F(PairTest, IsOneThatWasNotTried) {
  Use({"a", "b"}, {"k1", "k2"});
  tried_.Add("a", "k1", Spent::kPair);
  EXPECT_EQ(Next(), "b/k1");
  tried_.Add("b", "", Spent::kEndpoint);
  EXPECT_EQ(Next(), "a/k2");
  tried_.Add("a", "k2", Spent::kKey);
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(lacking_, Shortage::kAllTried);
}

TEST_F(PairTest, LacksAKeyWhenNoneIsUsable) {
  Use({"a"}, {"k1", "k2"});
  Refuse(0);
  EXPECT_EQ(Next(), "a/k2");
  Refuse(1);
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(lacking_, Shortage::kNoKey);
}

TEST_F(PairTest, LacksRoomWithKeysAsWithout) {
  for (const bool with_key : {false, true}) {
    with_key ? Use({"a"}, {"k1"}) : Use({"a"}, {});
    auto held = AcquirePair(endpoints_, keys_, *snapshot_, pool(), tried_);
    ASSERT_TRUE(std::holds_alternative<Pair>(held));
    EXPECT_EQ(Next(), "");
    EXPECT_EQ(lacking_, Shortage::kAllFull);
  }
}

TEST_F(PairTest, LacksRoomThoughAnotherKeyWasTried) {
  Use({"a"}, {"k1", "k2"});
  const auto held = AcquirePair(endpoints_, keys_, *snapshot_, pool(), tried_);
  tried_.Add("a", "k1", Spent::kPair);
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(lacking_, Shortage::kAllFull);
}

TEST_F(PairTest, LacksEndpointsWhereNoneIsConfigured) {
  Use({}, {"k1"});
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(lacking_, Shortage::kNoneConfigured);
}

}  // namespace
}  // namespace sluice::upstream
