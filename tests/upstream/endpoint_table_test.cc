#include "tests/upstream/endpoint_table_test.h"

namespace sluice::upstream {
namespace {

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
  Use(PoolOf({"b"}));
  const auto after = snapshot_;
  generation_ = 0;
  Use(PoolOf({"a"}));
  AcquireOf("a").Release();
  table_.ForgetAllBut(after->config());
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

TEST_F(EndpointTableTest, KeepsItsPickerWhileTwoConfigurationsAreInUse) {
  Use(PoolOf({"a", "b", "c"}));
  const auto before = snapshot_;
  config::Pool pool = PoolOf({"a", "b", "c"});
  pool.balancing.load_factor = 2;
  Use(pool);
  const auto after = snapshot_;
  EXPECT_EQ(Next(1), "a ");
  snapshot_ = before;
  EXPECT_EQ(Next(1), "b ");
  snapshot_ = after;
  EXPECT_EQ(Next(1), "c ");
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

TEST_F(EndpointTableTest, TellsOfRoomWhenALeaseOfAConfigurationWithoutLimitsEnds) {
  Use(PoolOf({"a"}));
  Lease old = Acquire();
  config::Pool limited = PoolOf({"a"});
  limited.endpoints[0].max_in_flight = 1;
  Use(limited);
  EXPECT_EQ(Lacks(), Shortage::kAllFull);
  EXPECT_THAT(Freed(), IsEmpty());
  old.Release();
  EXPECT_THAT(Freed(), ElementsAre("chat"));
}

}  // namespace
}  // namespace sluice::upstream
