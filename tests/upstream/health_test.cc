#include "lib/upstream/health.h"

#include <chrono>

#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"

namespace sluice::upstream {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using State = Health::State;

class HealthTest : public ::testing::Test {
 protected:
  /// An attempt that ends at once.
  bool Attempt(Outcome outcome) { return End(Begin(), outcome); }
  Health::Era Begin() {
    EXPECT_TRUE(health_.Takes(clock_.Now()));
    Health::Era era = 0;
    health_.Begin(&era);
    return era;
  }
  bool End(Health::Era era, Outcome outcome) {
    return health_.End(era, outcome, clock_.Now(), rules_, [this] { return may_eject_; });
  }
  void Fail(int times) {
    for (int i = 0; i < times; ++i) Attempt(Outcome::kFailure);
  }
  bool Probe(bool ok) {
    return health_.Probed(ok, "refused", clock_.Now(), probe_, [this] { return may_eject_; });
  }
  /// Fails it until it is out; then for how long.
  Duration Eject() {
    while (health_.state() != State::kEjected) Attempt(Outcome::kFailure);
    return health_.ejected_until() - clock_.Now();
  }
  /// Lets the ejection pass, and passes the trial.
  void Recover() {
    clock_.AdvanceTo(health_.ejected_until());
    Attempt(Outcome::kSuccess);
  }

  testing::FakeClock clock_;
  config::Health rules_;
  config::Probe probe_;
  bool may_eject_ = true;
  Health health_;
};

TEST_F(HealthTest, EjectsAfterSoManyFailuresInARow) {
  Fail(4);
  EXPECT_EQ(health_.state(), State::kWell);
  EXPECT_TRUE(Attempt(Outcome::kFailure));
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_EQ(health_.ejected_until(), clock_.Now() + seconds(10));
  EXPECT_EQ(health_.reason(), "5 attempts failed in a row");
  EXPECT_EQ(health_.ejections(), 1u);
  EXPECT_FALSE(health_.Takes(clock_.Now()));
}

TEST_F(HealthTest, StartsOverWithASuccess) {
  for (int i = 0; i < 10; ++i) {
    Fail(4);
    EXPECT_EQ(health_.consecutive_failures(), 4);
    EXPECT_FALSE(Attempt(Outcome::kSuccess));
    EXPECT_EQ(health_.consecutive_failures(), 0);
  }
  EXPECT_EQ(health_.state(), State::kWell);
}

TEST_F(HealthTest, OverlooksNeutralOutcomes) {
  Fail(4);
  for (int i = 0; i < 100; ++i) Attempt(Outcome::kNeutral);
  EXPECT_EQ(health_.consecutive_failures(), 4);
  Fail(1);
  EXPECT_EQ(health_.state(), State::kEjected);
}

TEST_F(HealthTest, DoesNotCountFailuresInARowIfTheRuleIsOff) {
  rules_.consecutive_failures = 0;
  Fail(100);
  EXPECT_EQ(health_.state(), State::kWell);
}

TEST_F(HealthTest, WaitsWhileTooManyAreOut) {
  may_eject_ = false;
  Fail(7);
  EXPECT_EQ(health_.state(), State::kWell);
  may_eject_ = true;
  Fail(1);
  EXPECT_EQ(health_.state(), State::kEjected);
}

TEST_F(HealthTest, EjectsWhenTheRatioOfFailuresIsReached) {
  rules_.failure_ratio = 0.5;
  for (int i = 0; i < 10; ++i) {
    Attempt(Outcome::kSuccess);
    EXPECT_EQ(health_.state(), State::kWell);
    Attempt(Outcome::kFailure);
  }
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_EQ(health_.reason(), "10 of the last 20 attempts failed");
}

TEST_F(HealthTest, JudgesNoRatioOfFewAttempts) {
  rules_.failure_ratio = 0.5;
  rules_.consecutive_failures = 0;
  Fail(19);
  EXPECT_EQ(health_.state(), State::kWell);
  Fail(1);
  EXPECT_EQ(health_.state(), State::kEjected);
}

TEST_F(HealthTest, AllowsARatioBelowTheLimit) {
  rules_.failure_ratio = 0.5;
  for (int i = 0; i < 50; ++i) {
    Attempt(Outcome::kSuccess);
    Attempt(Outcome::kSuccess);
    Attempt(Outcome::kFailure);
  }
  EXPECT_EQ(health_.state(), State::kWell);
}

TEST_F(HealthTest, ForgetsOutcomesAfterTenSeconds) {
  rules_.failure_ratio = 0.5;
  rules_.consecutive_failures = 0;
  Fail(19);
  clock_.Advance(seconds(13));
  Fail(19);
  EXPECT_EQ(health_.state(), State::kWell);
  clock_.Advance(seconds(9));
  Fail(1);
  EXPECT_EQ(health_.state(), State::kEjected);
}

TEST_F(HealthTest, CountsOutcomesOfEachSecond) {
  rules_.failure_ratio = 0.5;
  rules_.consecutive_failures = 0;
  for (int second = 0; second < 9; ++second) {
    Fail(2);
    clock_.Advance(seconds(1));
  }
  Fail(1);
  EXPECT_EQ(health_.state(), State::kWell);
  Fail(1);
  EXPECT_EQ(health_.state(), State::kEjected);
}

TEST_F(HealthTest, LetsOneTrialThroughWhenTheEjectionIsOver) {
  Eject();
  clock_.Advance(seconds(10) - milliseconds(1));
  EXPECT_FALSE(health_.Takes(clock_.Now()));
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(health_.state(), State::kEjected) << "until one begins";
  Health::Era era = 0;
  EXPECT_TRUE(health_.Begin(&era));
  EXPECT_EQ(health_.state(), State::kTrial);
  EXPECT_FALSE(health_.Takes(clock_.Now()));
  EXPECT_TRUE(End(era, Outcome::kSuccess));
  EXPECT_EQ(health_.state(), State::kWell);
  EXPECT_TRUE(health_.Takes(clock_.Now()));
  EXPECT_EQ(health_.consecutive_failures(), 0);
}

TEST_F(HealthTest, GivesTheTrialToTheNextIfItSaysNothing) {
  Eject();
  clock_.Advance(seconds(10));
  for (int i = 0; i < 3; ++i) {
    const Health::Era era = Begin();
    EXPECT_FALSE(health_.Takes(clock_.Now()));
    EXPECT_FALSE(End(era, Outcome::kNeutral));
    EXPECT_EQ(health_.state(), State::kTrial);
  }
  Health::Era era = 0;
  EXPECT_FALSE(health_.Begin(&era)) << "is on trial already";
  EXPECT_TRUE(End(era, Outcome::kSuccess));
}

TEST_F(HealthTest, EndsATrialWithTheFirstFrame) {
  Eject();
  clock_.Advance(seconds(10));
  const Health::Era era = Begin();
  EXPECT_TRUE(health_.FirstFrame(era, clock_.Now()));
  EXPECT_EQ(health_.state(), State::kWell);
  EXPECT_FALSE(health_.FirstFrame(era, clock_.Now()));
  EXPECT_FALSE(End(era, Outcome::kFailure));
  EXPECT_EQ(health_.consecutive_failures(), 1) << "what becomes of the rest counts";
}

TEST_F(HealthTest, EjectsAtOnceAndForLongerWhenTheTrialFails) {
  Eject();
  for (const int length : {20, 40, 80, 160, 300, 300}) {
    clock_.AdvanceTo(health_.ejected_until());
    may_eject_ = false;  // it is out already
    EXPECT_TRUE(Attempt(Outcome::kFailure));
    EXPECT_EQ(health_.state(), State::kEjected);
    EXPECT_EQ(health_.ejected_until() - clock_.Now(), seconds(length));
  }
  EXPECT_EQ(health_.ejections(), 7u);
}

TEST_F(HealthTest, EjectsForNoLongerThanTheLongest) {
  rules_.longest_ejection = seconds(3);
  EXPECT_EQ(Eject(), seconds(3));
}

TEST_F(HealthTest, HalvesTheEjectionForEachTimeItStayedWellAsLong) {
  EXPECT_EQ(Eject(), seconds(10));
  Recover();
  EXPECT_EQ(Eject(), seconds(20)) << "it was hardly well";
  Recover();
  EXPECT_EQ(Eject(), seconds(40));
  Recover();
  clock_.Advance(seconds(40) - milliseconds(1));
  EXPECT_EQ(Eject(), seconds(80));
  Recover();
  clock_.Advance(seconds(80));
  EXPECT_EQ(Eject(), seconds(80)) << "one is forgotten, one is added";
  Recover();
  clock_.Advance(seconds(160));
  EXPECT_EQ(Eject(), seconds(40));
  Recover();
  clock_.Advance(hours(1000));
  EXPECT_EQ(Eject(), seconds(10));
}

TEST_F(HealthTest, RemembersNoMoreDoublingsThanTheLongestEjectionHas) {
  Eject();
  for (int i = 0; i < 50; ++i) {
    clock_.AdvanceTo(health_.ejected_until());
    Attempt(Outcome::kFailure);
  }
  Recover();
  clock_.Advance(5 * seconds(300) + seconds(300));
  EXPECT_EQ(Eject(), seconds(10));
}

TEST_F(HealthTest, OverlooksAttemptsThatBeganBeforeTheEjection) {
  const Health::Era before = Begin();
  Eject();
  const Instant until = health_.ejected_until();
  EXPECT_FALSE(End(before, Outcome::kFailure));
  EXPECT_FALSE(End(before, Outcome::kSuccess));
  EXPECT_FALSE(health_.FirstFrame(before, clock_.Now()));
  EXPECT_EQ(health_.ejected_until(), until);
  clock_.AdvanceTo(until);
  Begin();
  EXPECT_FALSE(End(before, Outcome::kNeutral));
  EXPECT_FALSE(health_.Takes(clock_.Now())) << "the trial still runs";
  EXPECT_FALSE(End(before, Outcome::kSuccess));
  EXPECT_EQ(health_.state(), State::kTrial);
}

TEST_F(HealthTest, GrowsItsWeightAfterItCameBack) {
  const seconds slow_start(10);
  EXPECT_EQ(health_.ShareOfWeight(clock_.Now(), slow_start), 1) << "at the start it is warm";
  Eject();
  Recover();
  EXPECT_DOUBLE_EQ(health_.ShareOfWeight(clock_.Now(), slow_start), 0.1);
  clock_.Advance(seconds(5));
  EXPECT_DOUBLE_EQ(health_.ShareOfWeight(clock_.Now(), slow_start), 0.55);
  clock_.Advance(seconds(5));
  EXPECT_EQ(health_.ShareOfWeight(clock_.Now(), slow_start), 1);
  EXPECT_EQ(health_.ShareOfWeight(clock_.Now(), seconds(0)), 1);
}

TEST_F(HealthTest, EjectsWhenProbesFailInARow) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Probe(false));
    EXPECT_FALSE(Probe(false));
    EXPECT_FALSE(Probe(true));
  }
  Probe(false);
  Probe(false);
  EXPECT_TRUE(Probe(false));
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_EQ(health_.ejected_until(), kNever);
  EXPECT_EQ(health_.reason(), "3 probes failed in a row, the last: refused");
}

TEST_F(HealthTest, ComesBackOnlyByTheProbesThatTookItOut) {
  for (int i = 0; i < 3; ++i) Probe(false);
  clock_.Advance(hours(1000));
  EXPECT_FALSE(health_.Takes(clock_.Now()));
  EXPECT_FALSE(Probe(true));
  EXPECT_FALSE(Probe(false));
  EXPECT_FALSE(Probe(true));
  EXPECT_TRUE(Probe(true));
  EXPECT_EQ(health_.state(), State::kWell);
}

TEST_F(HealthTest, EjectsByProbesOnlyAsManyAsMayBeOut) {
  may_eject_ = false;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Probe(false));
  may_eject_ = true;
  EXPECT_TRUE(Probe(false));
}

TEST_F(HealthTest, IsNotReadmittedByProbesIfItsAttemptsFailed) {
  Eject();
  const Instant until = health_.ejected_until();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Probe(true));
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_EQ(health_.ejected_until(), until);
}

TEST_F(HealthTest, ServesBothTermsWhenAttemptsAndProbesFailed) {
  Eject();
  const Instant until = health_.ejected_until();
  may_eject_ = false;  // it is out already
  for (int i = 0; i < 3; ++i) Probe(false);
  EXPECT_EQ(health_.ejected_until(), kNever);
  Probe(true);
  EXPECT_TRUE(Probe(true));
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_EQ(health_.ejected_until(), until);
  for (int i = 0; i < 3; ++i) Probe(false);
  clock_.AdvanceTo(until);
  EXPECT_FALSE(health_.Takes(clock_.Now()));
  Probe(true);
  EXPECT_TRUE(Probe(true));
  EXPECT_EQ(health_.state(), State::kWell);
}

TEST_F(HealthTest, EndsATrialWhenProbesTakeItOut) {
  Eject();
  clock_.Advance(seconds(10));
  const Health::Era era = Begin();
  for (int i = 0; i < 3; ++i) Probe(false);
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_FALSE(End(era, Outcome::kSuccess));
  EXPECT_EQ(health_.state(), State::kEjected);
}

TEST_F(HealthTest, IsOnTrialWhenThereAreNoProbesAnyMore) {
  for (int i = 0; i < 3; ++i) Probe(false);
  clock_.Advance(seconds(1));
  EXPECT_TRUE(health_.ForgetProbes(clock_.Now()));
  EXPECT_EQ(health_.ejected_until(), clock_.Now());
  EXPECT_EQ(health_.state(), State::kEjected);
  EXPECT_TRUE(Attempt(Outcome::kSuccess));
  EXPECT_EQ(health_.state(), State::kWell);
  EXPECT_FALSE(health_.ForgetProbes(clock_.Now()));
  Probe(false);
  Probe(false);
  health_.ForgetProbes(clock_.Now());
  EXPECT_FALSE(Probe(false)) << "the count starts anew";
}

TEST_F(HealthTest, IsWellOnceReadmitted) {
  EXPECT_FALSE(health_.Readmit(clock_.Now()));
  Eject();
  EXPECT_TRUE(health_.Readmit(clock_.Now()));
  EXPECT_EQ(health_.state(), State::kWell);
  Fail(4);
  EXPECT_EQ(health_.state(), State::kWell);
}

}  // namespace
}  // namespace sluice::upstream
