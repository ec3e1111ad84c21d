#include "lib/http/discovery_schedule.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/support/fake_clock.h"

namespace sluice::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

class DiscoveryScheduleTest : public ::testing::Test {
 protected:
  DiscoveryScheduleTest() {
    SetLogSink([this](absl::string_view line) { lines_.emplace_back(line); });
    schedule_.SetNames({"a", "b"});
    schedule_.TakeDue(clock_.Now());
  }
  ~DiscoveryScheduleTest() override { SetLogSink(nullptr); }

  std::optional<std::vector<std::string>> Find(const std::string& name,
                                               std::vector<std::string> addresses,
                                               Duration life = minutes(1)) {
    return schedule_.OnAnswer(name, FoundAddresses{std::move(addresses), life}, clock_.Now());
  }
  std::optional<std::vector<std::string>> Fail(const std::string& name) {
    return schedule_.OnAnswer(name, absl::UnavailableError("no such name"), clock_.Now());
  }
  /// From now until the next name is due.
  Duration UntilDue() { return schedule_.next_due() - clock_.Now(); }

  testing::FakeClock clock_;
  DiscoverySchedule schedule_;
  std::vector<std::string> lines_;
};

TEST_F(DiscoveryScheduleTest, LooksNewNamesUpAtOnceAndEachOnce) {
  DiscoverySchedule schedule;
  EXPECT_EQ(schedule.next_due(), kNever);
  schedule.SetNames({"b", "a"});
  EXPECT_LE(schedule.next_due(), clock_.Now());
  EXPECT_THAT(schedule.TakeDue(clock_.Now()), ElementsAre("a", "b"));
  EXPECT_THAT(schedule.TakeDue(clock_.Now()), IsEmpty());
  EXPECT_EQ(schedule.next_due(), kNever);
  schedule.SetNames({"a", "b", "c"});
  EXPECT_THAT(schedule.TakeDue(clock_.Now()), ElementsAre("c"));
}

TEST_F(DiscoveryScheduleTest, LooksAgainWhenTheTimeToLiveIsOver) {
  Find("a", {"1.1.1.1"}, seconds(20));
  Find("b", {"1.1.1.1"}, seconds(30));
  EXPECT_EQ(UntilDue(), seconds(20));
  clock_.Advance(seconds(20) - milliseconds(1));
  EXPECT_THAT(schedule_.TakeDue(clock_.Now()), IsEmpty());
  clock_.Advance(milliseconds(1));
  EXPECT_THAT(schedule_.TakeDue(clock_.Now()), ElementsAre("a"));
  EXPECT_EQ(UntilDue(), seconds(10));
}

TEST_F(DiscoveryScheduleTest, BoundsTheTimeToLive) {
  Find("a", {"1.1.1.1"}, seconds(0));
  EXPECT_EQ(UntilDue(), seconds(1));
  Find("a", {"1.1.1.1"}, std::chrono::hours(24));
  EXPECT_EQ(UntilDue(), minutes(5));
}

TEST_F(DiscoveryScheduleTest, TellsOnlyWhatChanged) {
  EXPECT_THAT(Find("a", {"2.2.2.2", "::1", "1.1.1.1", "2.2.2.2"}),
              Optional(ElementsAre("1.1.1.1", "2.2.2.2", "::1")));
  EXPECT_EQ(Find("a", {"::1", "1.1.1.1", "2.2.2.2"}), std::nullopt);
  EXPECT_THAT(Find("a", {"1.1.1.1"}), Optional(ElementsAre("1.1.1.1")));
}

TEST_F(DiscoveryScheduleTest, KeepsTheAddressesOfANameThatFails) {
  Find("a", {"1.1.1.1"});
  EXPECT_EQ(Fail("a"), std::nullopt);
  EXPECT_EQ(Find("a", {"1.1.1.1"}), std::nullopt);
}

TEST_F(DiscoveryScheduleTest, RetriesEverMoreSeldom) {
  for (const int expected : {1, 2, 4, 8, 16, 30, 30}) {
    Fail("a");
    EXPECT_EQ(UntilDue(), seconds(expected));
  }
  Find("a", {"1.1.1.1"});
  Fail("a");
  EXPECT_EQ(UntilDue(), seconds(1));
}

TEST_F(DiscoveryScheduleTest, LogsAFailureOnceAndItsEnd) {
  Fail("a");
  Fail("a");
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], HasSubstr("no such name"));
  EXPECT_THAT(lines_[0], HasSubstr("name=a"));
  Find("a", {"1.1.1.1"});
  Find("a", {"1.1.1.1"});
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_THAT(lines_[1], HasSubstr("found again"));
  Fail("a");
  EXPECT_EQ(lines_.size(), 3u);
}

TEST_F(DiscoveryScheduleTest, ForgetsNamesThatAreGone) {
  Find("a", {"1.1.1.1"});
  schedule_.SetNames({"b"});
  EXPECT_EQ(Find("a", {"2.2.2.2"}), std::nullopt);
  schedule_.SetNames({"a", "b"});
  EXPECT_THAT(schedule_.TakeDue(clock_.Now()), ElementsAre("a"));
  EXPECT_THAT(Find("a", {"1.1.1.1"}), Optional(ElementsAre("1.1.1.1")));
}

}  // namespace
}  // namespace sluice::http
