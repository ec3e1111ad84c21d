#include "lib/upstream/endpoint_table.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_random.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using State = EndpointStateChanged::State;

constexpr auto kAny = [](absl::string_view) { return true; };

config::Pool PoolOf(const std::vector<std::string>& ids, const std::string& id = "chat") {
  config::Pool pool;
  pool.id = id;
  for (const std::string& endpoint : ids) {
    pool.endpoints.push_back({.id = endpoint, .uri = "http://" + endpoint + ".test:1/p"});
  }
  return pool;
}

class EndpointTableTest : public ::testing::Test {
 protected:
  /// A new configuration, of this one pool.
  void Use(config::Pool pool) {
    config::Config config;
    config.pools.push_back(std::move(pool));
    ++generation_;
    snapshot_ = std::make_shared<const config::Snapshot>(
        std::make_shared<config::Version>(
            config::Version{.config = std::move(config), .generation = generation_}),
        config::Secrets(), generation_);
  }
  const config::Pool& pool() const { return snapshot_->config().pools[0]; }

  std::variant<Lease, Shortage> TryAcquire(EndpointTable::Eligible eligible = kAny) {
    return table_.Acquire(*snapshot_, pool(), eligible);
  }
  Lease Acquire(EndpointTable::Eligible eligible = kAny) {
    return std::get<Lease>(TryAcquire(eligible));
  }
  Lease AcquireOf(absl::string_view wanted) {
    return Acquire([wanted](absl::string_view id) { return id == wanted; });
  }
  /// Why there is nothing; also what Lacks says.
  std::optional<Shortage> Lacks(EndpointTable::Eligible eligible = kAny) {
    const std::optional<Shortage> lacks = table_.Lacks(*snapshot_, pool(), eligible);
    const auto acquired = TryAcquire(eligible);
    const auto* shortage = std::get_if<Shortage>(&acquired);
    EXPECT_EQ(lacks, shortage != nullptr ? std::optional(*shortage) : std::nullopt);
    return lacks;
  }
  /// The ids that the next leases are of, each ended at once.
  std::string Next(int count) {
    std::string ids;
    for (int i = 0; i < count; ++i) ids += Acquire().id() + " ";
    return ids;
  }
  void Fail(absl::string_view id, int times = 5) {
    for (int i = 0; i < times; ++i) {
      AcquireOf(id).Report(Outcome::kFailure, Cause::kConnectFailed);
    }
  }
  void Probe(absl::string_view id, bool ok, int times) {
    const auto members = table_.Members(*snapshot_, pool());
    for (const Member& member : members->all) {
      for (int i = 0; member.id == id && i < times; ++i) table_.SeeProbe(member, ok, "refused");
    }
  }
  EndpointTable::Reading Read(const std::string& id) {
    return table_.Read("pools/chat/endpoints/" + id);
  }
  void ForgetAllBut() { table_.ForgetAllBut(snapshot_->config()); }

  std::vector<std::string> Told() { return std::exchange(told_, {}); }
  std::vector<std::string> Freed() { return std::exchange(freed_, {}); }

  testing::FakeClock clock_;
  testing::FakeRandom random_;
  std::vector<std::string> told_;   // "a ejected 10s"
  std::vector<std::string> freed_;  // pools
  EndpointTable table_{clock_,
                       random_,
                       {.on_change =
                            [this](EndpointStateChanged change) {
                              constexpr const char* kNames[] = {" active", " draining", " removed",
                                                                " ejected ", " trial"};
                              std::string text =
                                  change.endpoint.substr(change.endpoint.rfind('/') + 1) +
                                  kNames[static_cast<int>(change.state)];
                              if (change.state == State::kEjected) {
                                text += absl::FormatDuration(change.until - clock_.WallNow());
                              }
                              EXPECT_EQ(change.pool, "chat");
                              told_.push_back(text);
                            },
                        .on_free = [this](const std::string& id) { freed_.push_back(id); }}};
  uint64_t generation_ = 0;
  std::shared_ptr<const config::Snapshot> snapshot_;
};

TEST_F(EndpointTableTest, LeasesEndpointsAsThePickerChooses) {
  Use(PoolOf({"a", "b", "c"}));
  EXPECT_EQ(Next(5), "a b c a b ");
}

TEST_F(EndpointTableTest, GivesALeaseWhatAnAttemptNeeds) {
  config::Pool pool = PoolOf({"a"});
  pool.endpoints[0].uri = "https://a.test/v1";
  pool.tls.server_name = "b.test";
  Use(pool);
  Lease lease = Acquire();
  snapshot_ = nullptr;
  EXPECT_EQ(lease.id(), "a");
  EXPECT_EQ(lease.name(), "pools/chat/endpoints/a");
  EXPECT_EQ(lease.endpoint(), pool.endpoints[0]);
  EXPECT_EQ(lease.address().uri.host, "a.test");
  EXPECT_EQ(lease.address().uri.path_prefix, "/v1");
  EXPECT_EQ(lease.address().tls, pool.tls);
  EXPECT_EQ(lease.address().ip, "");
  lease.Release();
  EXPECT_EQ(lease.name(), "pools/chat/endpoints/a");
}

TEST_F(EndpointTableTest, LeasesEligibleEndpointsOnly) {
  Use(PoolOf({"a", "b"}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AcquireOf("b").id(), "b");
}

TEST_F(EndpointTableTest, CountsLeasesUntilTheyEnd) {
  Use(PoolOf({"a"}));
  EXPECT_EQ(Read("a").in_flight, 0);
  {
    Lease first = Acquire();
    const Lease second = Acquire();
    EXPECT_EQ(Read("a").in_flight, 2);
    first.Release();
    first.Release();
    EXPECT_EQ(Read("a").in_flight, 1);
  }
  EXPECT_EQ(Read("a").in_flight, 0);
  EXPECT_EQ(Read("a").attempts, 2);
}

TEST_F(EndpointTableTest, CountsAMovedLeaseOnce) {
  Use(PoolOf({"a", "b"}));
  Lease a = Acquire();
  Lease b = Acquire();
  Lease moved = std::move(a);
  EXPECT_EQ(Read("a").in_flight, 1);
  moved = std::move(b);
  EXPECT_EQ(Read("a").in_flight, 0);
  EXPECT_EQ(Read("b").in_flight, 1);
}

TEST_F(EndpointTableTest, CountsAcrossThreads) {
  Use(PoolOf({"a", "b"}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 500; ++n) {
        auto acquired = TryAcquire();
        auto* lease = std::get_if<Lease>(&acquired);
        if (lease != nullptr && i % 2 == 0) lease->Report(Outcome::kFailure, Cause::kTruncated);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Read("a").in_flight + Read("b").in_flight, 0);
}

TEST_F(EndpointTableTest, SaysWhatIsLacking) {
  Use(PoolOf({}));
  EXPECT_EQ(Lacks(), Shortage::kNoneConfigured);
  config::Pool pool = PoolOf({"drained", "ejected", "full", "tried"});
  pool.endpoints[2].max_in_flight = 1;
  Use(pool);
  EXPECT_EQ(Lacks(), std::nullopt);
  table_.SetDraining("pools/chat/endpoints/drained", true);
  Fail("ejected");
  const Lease lease = AcquireOf("full");
  const auto lacks_of = [this](const std::vector<absl::string_view>& ids) {
    return Lacks(
        [&](absl::string_view id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); });
  };
  EXPECT_EQ(lacks_of({}), Shortage::kAllTried);
  EXPECT_EQ(lacks_of({"drained"}), Shortage::kAllDraining);
  EXPECT_EQ(lacks_of({"drained", "ejected"}), Shortage::kAllEjected);
  EXPECT_EQ(lacks_of({"drained", "ejected", "full"}), Shortage::kAllFull);
  EXPECT_EQ(lacks_of({"drained", "ejected", "full", "tried"}), std::nullopt);
}

TEST_F(EndpointTableTest, LeasesNoDrainingEndpoint) {
  Use(PoolOf({"a", "b"}));
  EXPECT_TRUE(table_.SetDraining("pools/chat/endpoints/a", true));
  EXPECT_FALSE(table_.SetDraining("pools/chat/endpoints/a", true));
  EXPECT_EQ(Next(3), "b b b ");
  EXPECT_TRUE(table_.SetDraining("pools/chat/endpoints/a", false));
  EXPECT_EQ(AcquireOf("a").id(), "a");
}

TEST_F(EndpointTableTest, HasADrainTurnForEachDrain) {
  Use(PoolOf({"a"}));
  table_.SetDraining("pools/chat/endpoints/a", true);
  const uint64_t turn = Read("a").drain_turn;
  EXPECT_TRUE(Read("a").draining());
  table_.SetDraining("pools/chat/endpoints/a", false);
  EXPECT_FALSE(Read("a").draining());
  table_.SetDraining("pools/chat/endpoints/a", true);
  EXPECT_NE(Read("a").drain_turn, turn);
}

TEST_F(EndpointTableTest, ForgetsTheDrainOfAnEndpointThatIsConfiguredNoMore) {
  Use(PoolOf({"a", "b"}));
  const auto before = snapshot_;
  const Lease lease = AcquireOf("a");
  AcquireOf("b").Release();
  table_.SetDraining("pools/chat/endpoints/a", true);
  table_.SetDraining("pools/chat/endpoints/b", true);
  Use(PoolOf({}));
  ForgetAllBut();
  EXPECT_EQ(table_.ReadAll().size(), 1u) << "a is in use still";
  EXPECT_FALSE(Read("a").draining());
  snapshot_ = before;
  EXPECT_EQ(Lacks([](absl::string_view id) { return id == "b"; }), std::nullopt);
}

TEST_F(EndpointTableTest, ListsAnEndpointAgainThatAnOlderConfigurationUses) {
  Use(PoolOf({"a"}));
  AcquireOf("a").Release();
  table_.ForgetAllBut({});
  EXPECT_THAT(table_.ReadAll(), IsEmpty());
  const Lease lease = AcquireOf("a");
  EXPECT_EQ(Read("a").in_flight, 1);
}

TEST_F(EndpointTableTest, KeepsCountsWhenTheConfigurationChanges) {
  Use(PoolOf({"a"}));
  const auto before = snapshot_;
  const Lease lease = Acquire();
  Use(PoolOf({"b", "a"}));
  const Lease again = AcquireOf("a");
  EXPECT_EQ(Read("a").in_flight, 2);
  snapshot_ = before;
  EXPECT_EQ(Next(2), "a a ") << "an exchange that began before has its pool as it was";
}

TEST_F(EndpointTableTest, FollowsTheConfiguration) {
  Use(PoolOf({"a"}));
  Acquire();
  config::Pool pool = PoolOf({"a"});
  pool.endpoints[0].uri = "http://elsewhere.test/";
  Use(pool);
  EXPECT_EQ(Acquire().address().uri.host, "elsewhere.test");
}

TEST_F(EndpointTableTest, KeepsItsPlaceInTheTurnsUnlessTheBalancingChanges) {
  Use(PoolOf({"a", "b"}));
  EXPECT_EQ(Next(1), "a ");
  Use(PoolOf({"a", "b"}));
  EXPECT_EQ(Next(1), "b ");
  config::Pool pool = PoolOf({"a", "b"});
  pool.balancing.policy = config::Balance::kLeastOutstanding;
  Use(pool);
  const Lease a = AcquireOf("a");
  EXPECT_EQ(Next(3), "b b b ");
}

TEST_F(EndpointTableTest, FillsAnEndpointUpToItsLimit) {
  config::Pool pool = PoolOf({"a"});
  pool.endpoints[0].max_in_flight = 2;
  Use(pool);
  Lease first = Acquire();
  const Lease second = Acquire();
  EXPECT_EQ(Lacks(), Shortage::kAllFull);
  first.Release();
  EXPECT_EQ(Lacks(), std::nullopt);
}

TEST_F(EndpointTableTest, TellsOfRoomOnlyWhereThereIsALimit) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.endpoints[0].max_in_flight = 1;
  Use(pool);
  AcquireOf("b").Release();
  EXPECT_THAT(Freed(), IsEmpty());
  AcquireOf("a").Release();
  EXPECT_THAT(Freed(), ElementsAre("chat"));
  pool.max_in_flight = 1;
  Use(pool);
  AcquireOf("b").Release();
  EXPECT_THAT(Freed(), ElementsAre("chat"));
}

TEST_F(EndpointTableTest, TellsOfRoomWhenADrainOrAnEjectionEnds) {
  config::Pool pool = PoolOf({"a", "b"});
  pool.endpoints[0].max_in_flight = 100;
  Use(pool);
  table_.SetDraining("pools/chat/endpoints/a", true);
  EXPECT_THAT(Freed(), IsEmpty());
  table_.SetDraining("pools/chat/endpoints/a", false);
  EXPECT_THAT(Freed(), ElementsAre("chat"));
  Fail("a");
  clock_.Advance(seconds(10));
  Lease trial = AcquireOf("a");
  Freed();
  trial.FirstFrameAfter(seconds(1));
  EXPECT_THAT(Freed(), ElementsAre("chat"));
}

TEST_F(EndpointTableTest, MayCallBackWhenThereIsRoom) {
  config::Pool pool = PoolOf({"a"});
  pool.endpoints[0].max_in_flight = 1;
  Use(pool);
  EndpointTable* calls = nullptr;
  int in_flight = -1;
  EndpointTable table(clock_, random_, {.on_free = [&](const std::string&) {
                        in_flight = calls->Read("pools/chat/endpoints/a").in_flight;
                      }});
  calls = &table;
  std::get<Lease>(table.Acquire(*snapshot_, this->pool(), kAny)).Release();
  EXPECT_EQ(in_flight, 0);
}

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

class ResolvedEndpointTest : public EndpointTableTest {
 protected:
  ResolvedEndpointTest() {
    config::Pool pool = PoolOf({"a", "b"});
    pool.endpoints[0].resolve = true;
    Use(pool);
  }
};

TEST_F(ResolvedEndpointTest, IsUsedByItsNameBeforeItsAddressesAreKnown) {
  EXPECT_EQ(HostsToResolve(snapshot_->config()), std::set<std::string>{"a.test"});
  EXPECT_EQ(Next(2), "a b ");
  table_.SetAddresses("a.test", {});
  EXPECT_EQ(Next(2), "a b ");
}

TEST_F(ResolvedEndpointTest, IsOneEndpointPerAddress) {
  Next(1);
  table_.SetAddresses("a.test", {"10.0.0.2", "::1", "10.0.0.2"});
  table_.SetAddresses("b.test", {"10.0.0.9"});
  EXPECT_THAT((std::vector{Acquire().id(), Acquire().id(), Acquire().id()}),
              UnorderedElementsAre("a@10.0.0.2", "a@::1", "b"));
  const Lease lease = AcquireOf("a@::1");
  EXPECT_EQ(lease.address().ip, "::1");
  EXPECT_EQ(lease.address().uri.host, "a.test");
  EXPECT_EQ(lease.name(), "pools/chat/endpoints/a@::1");
  EXPECT_EQ(lease.endpoint().id, "a");
}

TEST_F(ResolvedEndpointTest, FollowsItsAddresses) {
  table_.SetAddresses("a.test", {"10.0.0.1", "10.0.0.2"});
  const Lease kept = AcquireOf("a@10.0.0.1");
  AcquireOf("a@10.0.0.2").Release();
  table_.SetAddresses("a.test", {"10.0.0.3"});
  EXPECT_THAT((std::vector{Acquire().id(), Acquire().id()}),
              UnorderedElementsAre("a@10.0.0.3", "b"));
  EXPECT_EQ(Read("a@10.0.0.1").in_flight, 1) << "its leases go on";
  EXPECT_EQ(Read("a@10.0.0.2").attempts, 0) << "is forgotten";
}

TEST_F(ResolvedEndpointTest, DrainsAtAllItsAddresses) {
  table_.SetAddresses("a.test", {"10.0.0.1", "10.0.0.2"});
  const Lease lease = AcquireOf("a@10.0.0.1");
  table_.SetDraining("pools/chat/endpoints/a", true);
  EXPECT_EQ(Next(3), "b b b ");
  EXPECT_EQ(Read("a").in_flight, 1);
  EXPECT_TRUE(Read("a@10.0.0.1").draining());
  table_.SetDraining("pools/chat/endpoints/a", false);
  EXPECT_EQ(AcquireOf("a@10.0.0.1").id(), "a@10.0.0.1");
}

TEST_F(ResolvedEndpointTest, IsHealthyByAddress) {
  table_.SetAddresses("a.test", {"10.0.0.1", "10.0.0.2"});
  Fail("a@10.0.0.1");
  EXPECT_THAT(Told(), ElementsAre("a@10.0.0.1 ejected 10s"));
  EXPECT_EQ(AcquireOf("a@10.0.0.2").id(), "a@10.0.0.2");
}

TEST_F(ResolvedEndpointTest, IsForgottenWithItsAddressesWhenConfiguredNoMore) {
  table_.SetAddresses("a.test", {"10.0.0.1"});
  AcquireOf("a@10.0.0.1").Release();
  ForgetAllBut();
  EXPECT_EQ(Read("a").attempts, 1);
  Use(PoolOf({"a", "b"}));  // as it is, not looked up
  ForgetAllBut();
  EXPECT_EQ(Read("a").attempts, 0);
  EXPECT_EQ(Next(2), "a b ");
}

}  // namespace
}  // namespace sluice::upstream
