#include "tests/upstream/endpoint_table_test.h"

namespace sluice::upstream {
namespace {

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
