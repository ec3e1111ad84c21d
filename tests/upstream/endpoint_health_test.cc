#include "tests/upstream/endpoint_table_test.h"

namespace sluice::upstream {
namespace {

TEST_F(EndpointTableTest, PrefersEndpointsThatDidNotAskToBeLeftAlone) {
  Use(PoolOf({"a", "b"}));
  AcquireOf("a").Report(Outcome::kNeutral, Cause::kUpstreamRefused503, seconds(7));
  EXPECT_EQ(Next(3), "b b b ");
  EXPECT_EQ(Read("a").rests_until, clock_.WallNow() + absl::Seconds(7));
  AcquireOf("a").Report(Outcome::kNeutral, Cause::kUpstreamRefused503, seconds(1));
  clock_.Advance(seconds(7) - milliseconds(1));
  EXPECT_EQ(Next(2), "b b ") << "a rest is never shortened";
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Next(2), "a b ");
  EXPECT_EQ(Read("a").rests_until, absl::InfinitePast());
}

TEST_F(EndpointTableTest, UsesAnEndpointThatAskedToBeLeftAloneIfThereIsNoOther) {
  Use(PoolOf({"a", "b"}));
  AcquireOf("a").Report(Outcome::kNeutral, Cause::kUpstreamRefused503, seconds(7));
  AcquireOf("b").Report(Outcome::kNeutral, Cause::kUpstreamRefused503, seconds(7));
  EXPECT_EQ(Next(2), "a b ");
}

TEST_F(EndpointTableTest, EjectsAnEndpointThatFails) {
  Use(PoolOf({"a", "b"}));
  Fail("a", 4);
  EXPECT_THAT(Told(), IsEmpty());
  Fail("a", 1);
  EXPECT_THAT(Told(), ElementsAre("a ejected 10s"));
  EXPECT_EQ(Next(3), "b b b ");
  const EndpointTable::Reading reading = Read("a");
  EXPECT_EQ(reading.health, Health::State::kEjected);
  EXPECT_EQ(reading.ejected_until, clock_.WallNow() + absl::Seconds(10));
  EXPECT_EQ(reading.ejection_reason, "5 attempts failed in a row");
  EXPECT_EQ(reading.ejections, 1);
  EXPECT_EQ(reading.consecutive_failures, 5);
  EXPECT_EQ(reading.last_failure, Cause::kConnectFailed);
  EXPECT_EQ(reading.last_failure_at, clock_.WallNow());
}

TEST_F(EndpointTableTest, MakesOneTrialWhenTheEjectionIsOver) {
  Use(PoolOf({"a", "b"}));
  Fail("b");
  Told();
  clock_.Advance(seconds(10));
  Lease trial = Acquire();
  EXPECT_EQ(trial.id(), "b") << "whoever's turn it is";
  EXPECT_THAT(Told(), ElementsAre("b trial"));
  EXPECT_EQ(Next(3), "a a a ");
  trial.Report(Outcome::kSuccess, Cause::kCompleted);
  EXPECT_THAT(Told(), ElementsAre("b active"));
  EXPECT_EQ(Read("b").health, Health::State::kWell);
}

TEST_F(EndpointTableTest, TakesAnEndpointBackWithTheFirstFrameOfItsTrial) {
  Use(PoolOf({"a", "b"}));
  Fail("b");
  clock_.Advance(seconds(10));
  Lease trial = Acquire();
  trial.FirstFrameAfter(seconds(1));
  EXPECT_EQ(Read("b").health, Health::State::kWell);
}

TEST_F(EndpointTableTest, GivesTheTrialBackThatEndsWithoutAReport) {
  Use(PoolOf({"a", "b"}));
  Fail("b");
  clock_.Advance(seconds(10));
  Told();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Acquire().id(), "b");
  Lease trial = Acquire();
  Lease moved = std::move(trial);
  EXPECT_EQ(Next(2), "a a ");
  moved.Report(Outcome::kFailure, Cause::kTruncated);
  EXPECT_THAT(Told(), ElementsAre("b trial", "b ejected 20s"));
}

TEST_F(EndpointTableTest, KeepsTheTrialWhenALeaseFromBeforeEnds) {
  Use(PoolOf({"a", "b"}));
  Lease before = AcquireOf("b");
  Fail("b");
  clock_.Advance(seconds(10));
  const Lease trial = Acquire();
  before.Release();
  EXPECT_EQ(Next(2), "a a ");
}

TEST_F(EndpointTableTest, NeverEjectsAPoolOfOne) {
  config::Pool pool = PoolOf({"a"});
  pool.health.max_ejected_percent = 100;
  Use(pool);
  Fail("a", 50);
  EXPECT_EQ(Read("a").health, Health::State::kWell);
}

TEST_F(EndpointTableTest, EjectsNoMoreThanThePoolMayLose) {
  config::Pool pool = PoolOf({"a", "b", "c", "d", "e"});
  pool.health.max_ejected_percent = 40;
  pool.probe.path = "/health";
  Use(pool);
  Fail("a");
  Probe("b", false, 3);
  Fail("c", 10);
  Probe("d", false, 10);
  EXPECT_THAT(Told(), ElementsAre("a ejected 10s", "b ejected inf"));
  clock_.Advance(seconds(10));
  const Lease trial = AcquireOf("a");
  Fail("c", 1);
  EXPECT_EQ(Read("c").health, Health::State::kWell) << "one on trial is still out";
  Probe("b", true, 2);
  Fail("c", 1);
  EXPECT_EQ(Read("c").health, Health::State::kEjected);
}

TEST_F(EndpointTableTest, LosesAllOfAPoolThatMay) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.health.max_ejected_percent = 100;
  Use(pool);
  Fail("a");
  Fail("b");
  EXPECT_EQ(Lacks(), Shortage::kAllEjected);
}

TEST_F(EndpointTableTest, TakesBackWhatTheConfigurationDoesNotAllowToBeOut) {
  Use(PoolOf({"a", "b"}));
  Fail("a");
  Told();
  Use(PoolOf({"a"}));
  EXPECT_EQ(Next(1), "a ");
  EXPECT_THAT(Told(), ElementsAre("a active"));
}

TEST_F(EndpointTableTest, TakesAnEndpointOutAndBackByProbes) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.probe.path = "/health";
  Use(pool);
  Probe("a", false, 3);
  EXPECT_THAT(Told(), ElementsAre("a ejected inf"));
  EXPECT_EQ(Read("a").ejected_until, absl::InfiniteFuture());
  EXPECT_EQ(Read("a").ejection_reason, "3 probes failed in a row, the last: refused");
  EXPECT_EQ(Next(2), "b b ");
  Probe("a", true, 2);
  EXPECT_THAT(Told(), ElementsAre("a active"));
}

TEST_F(EndpointTableTest, PutsOnTrialWhatProbesTookOutWhenThereAreNone) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.probe.path = "/health";
  Use(pool);
  Probe("a", false, 3);
  Told();
  Use(PoolOf({"a", "b"}));
  EXPECT_EQ(Next(1), "a ");
  EXPECT_THAT(Told(), ElementsAre("a ejected 0", "a trial"));
}

TEST_F(EndpointTableTest, OverlooksProbesThatEndAfterTheyWereSwitchedOff) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.probe.path = "/health";
  Use(pool);
  const auto members = table_.Members(*snapshot_, this->pool());
  Use(PoolOf({"a", "b"}));
  Next(1);
  for (int i = 0; i < 3; ++i) table_.SeeProbe(members->all[0], false, "refused");
  EXPECT_EQ(Read("a").health, Health::State::kWell);
}

TEST_F(EndpointTableTest, ReadsTheWarmthOfAnEndpointThatCameBack) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.health.slow_start = seconds(10);
  Use(pool);
  Fail("a");
  clock_.Advance(seconds(10));
  Acquire().Report(Outcome::kSuccess, Cause::kCompleted);
  EXPECT_DOUBLE_EQ(Read("a").warmth, 0.1);
  EXPECT_EQ(Read("b").warmth, 1);
  clock_.Advance(seconds(5));
  EXPECT_DOUBLE_EQ(Read("a").warmth, 0.55);
}

TEST_F(EndpointTableTest, BalancesByWhatItKnowsOfTheCandidates) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.balancing.policy = config::Balance::kLatency;
  Use(pool);
  AcquireOf("a").FirstFrameAfter(seconds(9));
  AcquireOf("b").FirstFrameAfter(milliseconds(1));
  EXPECT_EQ(Read("a").first_frame, seconds(9));
  EXPECT_EQ(Next(4), "b b b b ");
}

}  // namespace
}  // namespace sluice::upstream
