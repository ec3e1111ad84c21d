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

#include "tests/support/fake_clock.h"

namespace sluice::upstream {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kAny = [](const config::Key&) { return true; };

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

  testing::FakeClock clock_;
  KeyRing ring_{clock_, [this](KeyStateChanged change) {
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

TEST(RetryAfterTest, ReadsSecondsAndDates) {
  absl::Time now;
  std::string error;
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, "1994-11-06T08:49:30Z", &now, &error));
  EXPECT_EQ(ParseRetryAfter("120", now), seconds(120));
  EXPECT_EQ(ParseRetryAfter(" 0 ", now), seconds(0));
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds(7));
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:00 GMT", now), seconds(0));
}

TEST(RetryAfterTest, WaitsAnHourAtMost) {
  for (const absl::string_view value :
       {"3601", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    EXPECT_EQ(ParseRetryAfter(value, absl::UnixEpoch()), hours(1)) << value;
  }
}

TEST(RetryAfterTest, TakesNothingElse) {
  for (const absl::string_view value : {"", "soon", "-1", "1.5", "0x10", "1994-11-06"}) {
    EXPECT_EQ(ParseRetryAfter(value, absl::UnixEpoch()), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace sluice::upstream
