#include "lib/upstream/key_ring.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/random.h"
#include "tests/support/fake_clock.h"

namespace sluice::upstream {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kAny = [](const config::Key&) { return true; };

/// The middle of every range, until it is set.
class FixedRandom final : public Random {
 public:
  uint64_t Next() override { return next; }
  uint64_t next = uint64_t{1} << 63;
};

config::Snapshot SnapshotOf(uint64_t generation) {
  config::Config config;
  config.pools.push_back({.id = "chat"});
  config.pools[0].keys = {{.id = "k1", .env = "K1"}, {.id = "k2", .env = "K2"}};
  config::Secrets secrets;
  secrets.Add("chat", "k1", Secret("sk-one"));
  secrets.Add("chat", "k2", Secret("sk-two"));
  return config::Snapshot(std::make_shared<config::Version>(config::Version{
                              .config = std::move(config), .generation = generation}),
                          std::move(secrets), generation);
}

class KeyRingTest : public ::testing::Test {
 protected:
  static const config::Pool& PoolOf(const config::Snapshot& snapshot) {
    return snapshot.config().pools[0];
  }

  /// The usable keys, in the order of the configuration.
  std::string Usable(const config::Snapshot& snapshot) const {
    std::string ids;
    for (const config::Key& key : PoolOf(snapshot).keys) {
      const auto is_it = [&key](const config::Key& other) { return other.id == key.id; };
      if (ring_.Has(snapshot, PoolOf(snapshot), is_it)) ids += key.id + " ";
    }
    return ids;
  }

  /// The upstream answers so to k1.
  void Answer(int status, absl::string_view retry_after = "") {
    ResponseHead head;
    head.status = status;
    if (!retry_after.empty()) head.headers.Add("Retry-After", retry_after);
    KeyUse(ring_, snapshot_, PoolOf(snapshot_), PoolOf(snapshot_).keys[0]).See(head);
  }

  /// What the ring told so far, as "k1 resting 7s"; forgets it.
  std::vector<std::string> Told() { return std::exchange(told_, {}); }

  void AnswerError(absl::string_view type, absl::string_view code) {
    KeyUse(ring_, snapshot_, PoolOf(snapshot_), PoolOf(snapshot_).keys[0]).SeeError(type, code);
  }

  testing::FakeClock clock_;
  FixedRandom random_;
  KeyRing ring_{clock_, random_, [this](KeyStateChanged change) {
                  constexpr const char* kNames[] = {" active", " resting ", " refused"};
                  std::string text =
                      change.pool + "/" + change.key_id + kNames[static_cast<int>(change.state)];
                  if (change.state == KeyStateChanged::State::kResting) {
                    text += absl::FormatDuration(change.until - clock_.WallNow());
                  }
                  told_.push_back(text);
                }};
  std::vector<std::string> told_;
  const config::Snapshot snapshot_ = SnapshotOf(3);
};

TEST_F(KeyRingTest, GivesKeysInTurn) {
  std::string order;
  for (int i = 0; i < 4; ++i) order += ring_.Take(snapshot_, PoolOf(snapshot_), kAny)->id();
  EXPECT_EQ(order, "k1k2k1k2");
}

TEST_F(KeyRingTest, GivesEligibleKeysOnly) {
  const auto none = [](const config::Key&) { return false; };
  EXPECT_FALSE(ring_.Take(snapshot_, PoolOf(snapshot_), none).has_value());
  EXPECT_FALSE(ring_.Has(snapshot_, PoolOf(snapshot_), none));
}

class RefusedKeyTest : public KeyRingTest, public ::testing::WithParamInterface<int> {};

TEST_P(RefusedKeyTest, StaysOutUntilTheConfigurationChanges) {
  Answer(GetParam());
  clock_.Advance(hours(1000));
  EXPECT_EQ(Usable(snapshot_), "k2 ");
  EXPECT_EQ(Usable(SnapshotOf(2)), "k2 ");
  EXPECT_EQ(Usable(SnapshotOf(4)), "k1 k2 ");
}

INSTANTIATE_TEST_SUITE_P(All, RefusedKeyTest, ::testing::Values(401, 402, 403));

TEST_F(KeyRingTest, LeavesAKeyAloneWhateverElseIsAnswered) {
  for (const int status : {200, 301, 400, 404, 500, 502, 503, 504, 529}) {
    Answer(status);
    EXPECT_EQ(Usable(snapshot_), "k1 k2 ") << status;
  }
}

TEST_F(KeyRingTest, RestsAKeyForAsLongAsTheAnswerAsks) {
  Answer(429, "7");
  clock_.Advance(seconds(7) - milliseconds(1));
  EXPECT_EQ(Usable(snapshot_), "k2 ");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Usable(snapshot_), "k1 k2 ");
}

TEST_F(KeyRingTest, NeverShortensARest) {
  Answer(429, "7");
  Answer(429, "1");
  clock_.Advance(seconds(6));
  EXPECT_EQ(Usable(snapshot_), "k2 ");
}

TEST_F(KeyRingTest, DoublesTheRestUpToAMinuteUntilASuccess) {
  for (const int rest : {1, 2, 4, 8, 16, 32, 60, 60}) {
    Answer(429);
    clock_.Advance(seconds(rest) - milliseconds(1));
    EXPECT_EQ(Usable(snapshot_), "k2 ") << rest;
    clock_.Advance(milliseconds(1));
    EXPECT_EQ(Usable(snapshot_), "k1 k2 ") << rest;
  }
  Answer(200);
  Answer(429);
  clock_.Advance(seconds(1));
  EXPECT_EQ(Usable(snapshot_), "k1 k2 ");
}

TEST_F(KeyRingTest, CountsRefusalsThatCameTogetherOnce) {
  for (int i = 0; i < 5; ++i) Answer(429);
  clock_.Advance(seconds(1));
  EXPECT_EQ(Usable(snapshot_), "k1 k2 ");
}

TEST_F(KeyRingTest, TellsOfARestAndOfItsEndWhenTheKeyIsTakenAgain) {
  Answer(429, "7");
  EXPECT_THAT(Told(), ElementsAre("chat/k1 resting 7s"));
  Answer(429, "9");
  EXPECT_THAT(Told(), ElementsAre("chat/k1 resting 9s"));
  for (const absl::string_view shorter : {"9", "1", ""}) Answer(429, shorter);
  clock_.Advance(seconds(9));
  EXPECT_THAT(Told(), IsEmpty());
  for (int i = 0; i < 4; ++i) ring_.Take(snapshot_, PoolOf(snapshot_), kAny);
  EXPECT_THAT(Told(), ElementsAre("chat/k1 active"));
  Answer(429);
  EXPECT_THAT(Told(), ElementsAre("chat/k1 resting 1s"));
}

TEST_F(KeyRingTest, TellsOnceThatAKeyIsRefused) {
  Answer(401);
  Answer(403);
  Answer(429, "7");
  EXPECT_THAT(Told(), ElementsAre("chat/k1 refused"));
  clock_.Advance(seconds(7));
  for (int i = 0; i < 2; ++i) ring_.Take(snapshot_, PoolOf(snapshot_), kAny);
  EXPECT_THAT(Told(), IsEmpty());
  const config::Snapshot next = SnapshotOf(4);
  for (int i = 0; i < 2; ++i) ring_.Take(next, PoolOf(next), kAny);
  EXPECT_THAT(Told(), ElementsAre("chat/k1 active"));
  Answer(401);
  EXPECT_THAT(Told(), IsEmpty()) << "an exchange that began before the change";
}

TEST_F(KeyRingTest, TellsNothingOfAnswersThatLeaveAKeyAlone) {
  for (const int status : {200, 404, 500, 503}) Answer(status);
  Answer(429, "0");
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(KeyRingTest, SharesItsStateAmongThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 200; ++n) {
        Answer(i % 2 == 0 ? 200 : 429);
        ring_.Take(snapshot_, PoolOf(snapshot_), kAny);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  clock_.Advance(seconds(60));
  EXPECT_EQ(Usable(snapshot_), "k1 k2 ");
}

TEST_F(KeyRingTest, SpreadsBackoffsByAFifth) {
  random_.next = 0;
  Answer(429);
  EXPECT_THAT(Told(), ElementsAre("chat/k1 resting 800ms"));
  clock_.Advance(milliseconds(800));
  random_.next = ~uint64_t{0};
  Answer(429);
  clock_.Advance(milliseconds(2399));
  EXPECT_EQ(Usable(snapshot_), "k2 ");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Usable(snapshot_), "k1 k2 ");
}

TEST_F(KeyRingTest, DoesNotSpreadWhatAnAnswerAsksFor) {
  random_.next = 0;
  Answer(429, "7");
  EXPECT_THAT(Told(), ElementsAre("chat/k1 resting 7s"));
}

TEST_F(KeyRingTest, RefusesAKeyForAnErrorThatSaysSo) {
  const std::pair<absl::string_view, absl::string_view> errors[] = {
      {"invalid_request_error", "invalid_api_key"},
      {"authentication_error", ""},
      {"insufficient_quota", "insufficient_quota"},
      {"billing_error", ""},
      {"permission_error", ""}};
  uint64_t edition = 4;
  for (const auto& [type, code] : errors) {
    const config::Snapshot snapshot = SnapshotOf(edition++);
    ASSERT_EQ(Usable(snapshot), "k1 k2 ");
    KeyUse(ring_, snapshot, PoolOf(snapshot), PoolOf(snapshot).keys[0]).SeeError(type, code);
    EXPECT_EQ(Usable(snapshot), "k2 ") << type;
  }
}

TEST_F(KeyRingTest, RestsAKeyForAnErrorThatSaysSo) {
  AnswerError("rate_limit_error", "");
  EXPECT_THAT(Told(), ElementsAre("chat/k1 resting 1s"));
}

TEST_F(KeyRingTest, LeavesAKeyAloneForOtherErrors) {
  for (const absl::string_view type : {"", "server_error", "overloaded_error", "api_error"}) {
    AnswerError(type, "");
  }
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_EQ(Usable(snapshot_), "k1 k2 ");
}

TEST_F(KeyRingTest, GivesTheFirstUsableKeyOutOfTurn) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ring_.First(snapshot_, PoolOf(snapshot_))->id(), "k1");
  Answer(401);
  EXPECT_EQ(ring_.First(snapshot_, PoolOf(snapshot_))->id(), "k2");
  EXPECT_EQ(ring_.Take(snapshot_, PoolOf(snapshot_), kAny)->id(), "k2");
  KeyUse(ring_, snapshot_, PoolOf(snapshot_), PoolOf(snapshot_).keys[1]).SeeError("", "401");
  EXPECT_FALSE(ring_.First(snapshot_, PoolOf(snapshot_)).has_value());
}

TEST_F(KeyRingTest, UsesNoKeyWithoutAValue) {
  config::Secrets one;
  one.Add("chat", "k2", Secret("sk-two"));
  const config::Snapshot snapshot(std::make_shared<config::Version>(config::Version{
                                      .config = snapshot_.config(), .generation = 1}),
                                  std::move(one), 1);
  EXPECT_EQ(Usable(snapshot), "k2 ");
  EXPECT_EQ(ring_.Read(snapshot, PoolOf(snapshot))[0].state, KeyStateChanged::State::kUnreadable);
  EXPECT_EQ(ring_.UsableIn(snapshot, PoolOf(snapshot)), Duration(0));
  KeyUse(ring_, snapshot, PoolOf(snapshot), PoolOf(snapshot).keys[1]).SeeError("", "401");
  EXPECT_EQ(ring_.UsableIn(snapshot, PoolOf(snapshot)), std::nullopt);
}

TEST_F(KeyRingTest, ReadsTheStateOfEachKeyAsItIsNow) {
  using State = KeyStateChanged::State;
  const auto read = [this] { return ring_.Read(snapshot_, PoolOf(snapshot_)); };
  EXPECT_EQ(read().size(), 2u);
  EXPECT_EQ(read()[1].id, "k2");
  EXPECT_EQ(read()[0].state, State::kActive);
  Answer(429, "7");
  EXPECT_EQ(read()[0].state, State::kResting);
  EXPECT_EQ(read()[0].until, clock_.WallNow() + absl::Seconds(7));
  EXPECT_EQ(read()[1].state, State::kActive);
  clock_.Advance(seconds(7));
  EXPECT_EQ(read()[0].state, State::kActive);
  EXPECT_EQ(read()[0].until, absl::InfinitePast());
  Answer(401);
  EXPECT_EQ(read()[0].state, State::kRefused);
}

}  // namespace
}  // namespace sluice::upstream
