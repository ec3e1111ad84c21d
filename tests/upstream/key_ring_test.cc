#include "lib/upstream/key_ring.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"

namespace sluice::upstream {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kAny = [](const config::Key&) { return true; };

config::Snapshot SnapshotOf(uint64_t generation) {
  config::Config config;
  config.pools.push_back({.id = "chat"});
  config.pools[0].keys = {{.id = "k1", .env = "K1"}, {.id = "k2", .env = "K2"}};
  config::Secrets secrets;
  secrets.Add("chat", "k1", Secret("sk-one"));
  secrets.Add("chat", "k2", Secret("sk-two"));
  return config::Snapshot(std::move(config), std::move(secrets), generation, "etag",
                          absl::UnixEpoch());
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

  testing::FakeClock clock_;
  KeyRing ring_{clock_};
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
