#include "lib/upstream/prober.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_random.h"
#include "tests/support/fake_transport.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Script;
using ::testing::StartsWith;

class ProberTest : public ::testing::Test {
 protected:
  ProberTest() {
    pool_.id = "chat";
    pool_.probe.path = "/health";
    for (const char* id : {"a", "b"}) {
      pool_.endpoints.push_back({.id = id, .uri = "http://127.0.0.1:1/" + std::string(id)});
    }
  }

  /// The pool, as it is now, is the configuration.
  void Use() {
    config::Config config;
    config.pools = {pool_};
    config::Secrets secrets;
    for (const config::Key& key : pool_.keys) {
      secrets.Add("chat", key.id, Secret("sk-" + key.id));
    }
    ++generation_;
    snapshot_ = std::make_shared<const config::Snapshot>(
        std::make_shared<config::Version>(
            config::Version{.config = std::move(config), .generation = generation_}),
        std::move(secrets), generation_);
  }

  std::vector<ProbeJob> TakeDue() { return prober_.TakeDue(*snapshot_); }
  /// Probes what is due, with that result; the ids.
  std::vector<std::string> Probe(bool ok) {
    std::vector<std::string> ids;
    for (const ProbeJob& job : TakeDue()) {
      prober_.See(job, {ok, ok ? "" : "refused"});
      ids.push_back(job.member->id);
    }
    return ids;
  }
  /// Goes to the next one.
  Duration Wait() {
    const Duration wait = prober_.NextAt() - clock_.Now();
    clock_.AdvanceTo(prober_.NextAt());
    return wait;
  }
  Health::State StateOf(const std::string& id) {
    return table_.Read("pools/chat/endpoints/" + id).health;
  }

  testing::FakeClock clock_;
  testing::FakeRandom random_;
  EndpointTable table_{clock_, random_};
  KeyRing keys_{clock_, random_};
  Prober prober_{table_, keys_, clock_, random_};
  config::Pool pool_;
  uint64_t generation_ = 0;
  std::shared_ptr<const config::Snapshot> snapshot_;
};

TEST_F(ProberTest, ProbesNothingWithoutAPath) {
  pool_.probe.path = "";
  Use();
  EXPECT_THAT(TakeDue(), IsEmpty());
  EXPECT_EQ(prober_.NextAt(), kNever);
}

TEST_F(ProberTest, ProbesANewEndpointWithinASecondButNotAllAtOnce) {
  Use();
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  random_.Script({0, kHalf, kHalf});  // a at once, then after its interval; b in half a second
  EXPECT_THAT(Probe(true), ElementsAre("a"));
  clock_.Advance(milliseconds(500));
  EXPECT_THAT(Probe(true), ElementsAre("b"));
}

TEST_F(ProberTest, ProbesANewEndpointWithinItsInterval) {
  pool_.probe.interval = milliseconds(100);
  Use();
  TakeDue();
  EXPECT_LE(prober_.NextAt(), clock_.Now() + milliseconds(100));
}

TEST_F(ProberTest, ProbesOncePerIntervalGiveOrTakeAFifth) {
  pool_.endpoints.pop_back();
  Use();
  TakeDue();
  Wait();
  std::set<Duration> waits;
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(Probe(true), ElementsAre("a"));
    EXPECT_THAT(Probe(true), IsEmpty());
    const Duration wait = Wait();
    EXPECT_GE(wait, seconds(8));
    EXPECT_LE(wait, seconds(12));
    waits.insert(wait);
  }
  EXPECT_GT(waits.size(), 90u);
  EXPECT_LT(*waits.begin(), milliseconds(8200));
  EXPECT_GT(*waits.rbegin(), milliseconds(11800));
}

TEST_F(ProberTest, RunsOneProbeAtATimePerEndpoint) {
  pool_.endpoints.pop_back();
  Use();
  TakeDue();
  Wait();
  const std::vector<ProbeJob> jobs = TakeDue();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(prober_.NextAt(), kNever);
  clock_.Advance(seconds(100));
  EXPECT_THAT(TakeDue(), IsEmpty());
  prober_.See(jobs[0], {true, ""});
  EXPECT_LE(prober_.NextAt(), clock_.Now());
  EXPECT_THAT(Probe(true), ElementsAre("a"));
}

TEST_F(ProberTest, FollowsAChangeOfTheInterval) {
  pool_.endpoints.pop_back();
  pool_.probe.interval = seconds(1000);
  Use();
  TakeDue();
  Wait();
  Probe(true);
  pool_.probe.interval = seconds(1);
  Use();
  EXPECT_THAT(TakeDue(), IsEmpty());
  EXPECT_LE(Wait(), milliseconds(1200));
}

TEST_F(ProberTest, ForgetsWhatIsConfiguredNoMore) {
  Use();
  TakeDue();
  pool_.endpoints.clear();
  Use();
  EXPECT_THAT(TakeDue(), IsEmpty());
  EXPECT_EQ(prober_.NextAt(), kNever);
}

TEST_F(ProberTest, OutlivesTheEndpointThatItsProbeRunsAt) {
  Use();
  TakeDue();
  clock_.Advance(seconds(1));
  const std::vector<ProbeJob> jobs = TakeDue();
  ASSERT_EQ(jobs.size(), 2u);
  pool_.endpoints.clear();
  Use();
  EXPECT_THAT(TakeDue(), IsEmpty());
  pool_.endpoints.push_back(*jobs[0].member->endpoint);
  Use();
  clock_.Advance(seconds(100));
  TakeDue();
  clock_.Advance(seconds(100));
  EXPECT_THAT(TakeDue(), IsEmpty()) << "the one from before it was removed still runs";
  pool_.endpoints.clear();
  Use();
  prober_.See(jobs[0], {false, "refused"});
  prober_.See(jobs[1], {true, ""});
  EXPECT_THAT(TakeDue(), IsEmpty());
  EXPECT_EQ(prober_.NextAt(), kNever);
}

TEST_F(ProberTest, TellsTheTableWhatItFinds) {
  Use();
  TakeDue();
  clock_.Advance(seconds(1));
  for (int i = 0; i < 3; ++i) {
    for (const ProbeJob& job : TakeDue()) {
      prober_.See(job, {job.member->id == "a", "refused"});
    }
    clock_.Advance(seconds(12));
  }
  EXPECT_EQ(StateOf("a"), Health::State::kWell);
  EXPECT_EQ(StateOf("b"), Health::State::kEjected);
  for (int i = 0; i < 2; ++i) {
    Probe(true);
    clock_.Advance(seconds(12));
  }
  EXPECT_EQ(StateOf("b"), Health::State::kWell);
}

TEST_F(ProberTest, ProbesEachAddressOfAName) {
  pool_.endpoints = {{.id = "a", .uri = "http://a.test/", .resolve = true}};
  Use();
  table_.SetAddresses("a.test", {"10.0.0.1", "10.0.0.2"});
  TakeDue();
  clock_.Advance(seconds(1));
  EXPECT_THAT(Probe(true), ElementsAre("a@10.0.0.1", "a@10.0.0.2"));
}

TEST_F(ProberTest, SendsTheFirstUsableKeyAndTheHeadersOfTheEndpoint) {
  pool_.probe.path = "/v1/models";
  pool_.keys = {{.id = "k1", .env = "K1"}, {.id = "k2", .env = "K2"}};
  pool_.endpoints[0].headers = {{"X-Region", "north"}};
  Use();
  KeyUse(keys_, *snapshot_, snapshot_->config().pools[0], snapshot_->config().pools[0].keys[0])
      .SeeError("", "401");
  TakeDue();
  clock_.Advance(seconds(1));
  const std::vector<ProbeJob> jobs = TakeDue();
  ASSERT_EQ(jobs.size(), 2u);
  const OutboundRequest& request = jobs[0].request;
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/v1/models");
  EXPECT_EQ(*request.headers.Find("Authorization"), "Bearer sk-k2");
  EXPECT_EQ(*request.headers.Find("X-Region"), "north");
  EXPECT_EQ(jobs[1].request.headers.Find("X-Region"), nullptr);
}

class RunProbeTest : public ProberTest {
 protected:
  ProbeResult Run(Script script) {
    Use();
    transport_.Play(std::move(script));
    const auto members = table_.Members(*snapshot_, snapshot_->config().pools[0]);
    ProbeJob job{.member = {members, &members->all[0]}, .request = {}, .timeout = seconds(2)};
    job.request.method = "GET";
    job.request.target = "/health";
    const ProbeResult result = RunProbe(transport_, clock_, job);
    EXPECT_EQ(result.ok, result.detail.empty());
    return result;
  }

  Cancellation cancellation_;
  testing::FakeTransport transport_{clock_, cancellation_};
};

TEST_F(RunProbeTest, IsWellWithAWhole2xx) {
  EXPECT_TRUE(Run(Script().Head(200, "application/json").Piece("{}").End()).ok);
  EXPECT_TRUE(Run(Script().Head(204, "").End()).ok);
  const testing::FakeTransport::Sent& sent = *transport_.sent()[0];
  EXPECT_EQ(sent.request.target, "/health");
  EXPECT_EQ(sent.address.uri.path_prefix, "/a");
  EXPECT_TRUE(sent.read_to_end) << "so that the connection is used again";
  EXPECT_TRUE(sent.closed);
}

TEST_F(RunProbeTest, IsNotWellWithAnyOtherStatus) {
  for (const int status : {301, 404, 500, 503}) {
    EXPECT_EQ(Run(Script().Head(status, "").End()).detail, "it answers " + std::to_string(status));
  }
}

TEST_F(RunProbeTest, IsWellWithAnAnswerAboutTheKey) {
  for (const int status : {401, 402, 403, 429}) {
    EXPECT_TRUE(Run(Script().Head(status, "").End()).ok) << status;
  }
}

TEST_F(RunProbeTest, SaysWhatWentWrong) {
  EXPECT_EQ(Run(Script().Refuse()).detail, "connect_failed: 10.0.0.1:80 refused");
  EXPECT_EQ(Run(Script().Fail(Cause::kUpstreamReset)).detail, "upstream_reset");
  EXPECT_EQ(Run(Script().Head(200, "").Piece("{").Fail(Cause::kTruncated)).detail, "truncated");
}

TEST_F(RunProbeTest, WaitsForSoLongInAll) {
  const Instant before = clock_.Now();
  EXPECT_EQ(Run(Script().Silence()).detail, "no answer in time");
  EXPECT_EQ(clock_.Now() - before, seconds(2));
  EXPECT_EQ(Run(Script().Silence(seconds(1)).Head(200, "").Silence(seconds(2))).detail,
            "no end of the answer in time");
  EXPECT_EQ(clock_.Now() - before, seconds(4));
}

TEST_F(RunProbeTest, ReadsNoEndlessAnswer) {
  Script script = Script().Head(200, "");
  for (int i = 0; i < 65; ++i) script.Piece(std::string(1024, 'x'));
  EXPECT_TRUE(Run(std::move(script)).ok);
  EXPECT_FALSE(transport_.sent()[0]->read_to_end);
}

}  // namespace
}  // namespace sluice::upstream
