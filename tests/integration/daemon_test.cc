// The daemon as a process: its command line, its configuration file, its probes, its end.

#include "tests/integration/daemon.h"

#include <memory>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kSluicectl[] = SLUICE_BIN "/sluicectl";

RawClient Connect(uint16_t port) {
  absl::StatusOr<RawClient> client = RawClient::Connect(port);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

RawResponse Ask(uint16_t port, const std::string& request) {
  RawClient client = Connect(port);
  EXPECT_TRUE(client.Send(request).ok());
  return client.ReadResponse().value_or(RawResponse());
}

struct Ended {
  int code;
  std::string err;
};

/// Runs a program that is to end by itself.
Ended RunToEnd(const std::vector<std::string>& args) {
  ChildProcess child(args);
  const int code = child.WaitForExit();
  return {code, child.err()};
}

Ended RunWithConfig(absl::string_view text, std::string* path) {
  const TempFile file(text);
  *path = file.path();
  return RunToEnd(Daemon::Args({absl::StrCat("--config=", file.path())}));
}

TEST(DaemonConfigTest, RefusesAFileThatIsNotJson) {
  std::string path;
  const Ended ended = RunWithConfig("{\"pools\": [", &path);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr(path), HasSubstr("sluice.control.v1.Config")));
}

TEST(DaemonConfigTest, RefusesAFieldItDoesNotKnow) {
  std::string path;
  const Ended ended = RunWithConfig(R"({"pools":[{"id":"chat","endpointz":[]}]})", &path);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr(path), HasSubstr("endpointz")));
}

TEST(DaemonConfigTest, ListsEveryViolationWithItsPath) {
  std::string path;
  const Ended ended = RunWithConfig(
      R"({"pools":[{"id":"Chat","endpoints":[{"id":"a","uri":"http://::1:9001"}],
                    "timeouts":{"idle":"-1s"},"retry":{"max_attempts":0}}],
          "routes":[{"model":"","pool":"chat"}],"limits":{"max_body_bytes":"0"}})",
      &path);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr(path));
  for (const char* violation :
       {"pools[0].id: ", "pools[0].endpoints[0].uri: ", "pools[0].timeouts.idle: ",
        "pools[0].retry.max_attempts: ", "routes[0].model: ", "routes[0].pool: ",
        "limits.max_body_bytes: "}) {
    EXPECT_THAT(ended.err, HasSubstr(violation));
  }
}

TEST(DaemonConfigTest, RefusesAFileThatIsMissing) {
  const Ended ended = RunToEnd(Daemon::Args({"--config=/nowhere/sluice.json"}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("/nowhere/sluice.json"), HasSubstr("No such file")));
}

TEST(DaemonConfigTest, TakesTheExampleThatIsShipped) {
  Daemon daemon({"--config=" SLUICE_TEST_DATA "/../../deploy/config.example.json"});
  daemon.child().Signal(SIGTERM);
  EXPECT_EQ(daemon.child().WaitForExit(), 0) << daemon.child().err();
}

TEST(DaemonConfigTest, ServesNothingUntilAConfigurationIsApplied) {
  auto engine = ScriptedEngine::Start().value();
  engine->AnswerAll(Script().Json("{}"));
  Daemon daemon;
  const RawResponse before = Ask(daemon.port(), ChatRequest(false));
  EXPECT_EQ(before.status, 503);
  EXPECT_THAT(before.body, HasSubstr(R"("code":"no_capacity")"));

  const TempFile file(ConfigFor(engine->uri()));
  const Ended applied = RunToEnd({kSluicectl, "config", "apply", file.path(), "--server",
                                  absl::StrCat("127.0.0.1:", daemon.control_port())});
  EXPECT_EQ(applied.code, 0) << applied.err;
  EXPECT_EQ(Ask(daemon.port(), ChatRequest(false)).status, 200);
}

TEST(DaemonFlagsTest, RefusesWhatItDoesNotUnderstand) {
  struct Wrong {
    std::string flag;
    std::string word;  // in what is said about it
  };
  for (const Wrong& wrong : {Wrong{"--no_such_flag", "no_such_flag"},
                             Wrong{"--loops=many", "loops"}, Wrong{"--loops=-1", "loops"},
                             Wrong{"--loops=1025", "loops"}, Wrong{"--drain=soon", "drain"},
                             Wrong{"--log_format=xml", "log_format"}, Wrong{"stray", "stray"}}) {
    const Ended ended = RunToEnd(Daemon::Args({wrong.flag}));
    EXPECT_GT(ended.code, 0) << wrong.flag;
    EXPECT_LT(ended.code, 128) << wrong.flag;
    EXPECT_THAT(ended.err, HasSubstr(wrong.word));
  }
}

TEST(DaemonFlagsTest, NamesTheAddressThatItCannotHave) {
  const auto taken = ScriptedEngine::Start().value();
  const std::string in_use = absl::StrCat("127.0.0.1:", taken->port());
  for (const char* flag : {"--listen=", "--control=", "--admin="}) {
    const Ended ended = RunToEnd(Daemon::Args({absl::StrCat(flag, in_use)}));
    EXPECT_EQ(ended.code, 1) << flag;
    EXPECT_THAT(ended.err, HasSubstr(in_use));
  }
  for (const char* flag : {"--listen=", "--admin="}) {
    for (const char* address : {"nowhere:1", "127.0.0.1", "127.0.0.1:65536", "::1:80"}) {
      const Ended ended =
          RunToEnd(Daemon::Args({"--allow_anonymous", absl::StrCat(flag, address)}));
      EXPECT_EQ(ended.code, 1) << flag << address;
      EXPECT_THAT(ended.err, HasSubstr("is not "));
    }
  }
}

TEST(DaemonProbeTest, AnswersProbesOnTheAdminPortAlone) {
  auto engine = ScriptedEngine::Start().value();
  engine->AnswerAll(Script().Json("{}", "418 Upstream"));
  const TempFile file(ConfigFor(engine->uri()));
  Daemon daemon({absl::StrCat("--config=", file.path())});
  for (const char* probe : {"/healthz", "/readyz"}) {
    EXPECT_EQ(Ask(daemon.admin_port(), GetRequest(probe)).status, 200) << probe;
    EXPECT_EQ(Ask(daemon.port(), GetRequest(probe)).status, 418)
        << probe << " on the data port belongs to the upstream";
  }
  EXPECT_EQ(Ask(daemon.admin_port(), GetRequest("/v1/models")).status, 404);
  EXPECT_EQ(Ask(daemon.admin_port(), PostRequest("/healthz", "")).status, 405);
}

TEST(DaemonProbeTest, ShowsMetricsOnTheAdminPort) {
  auto engine = ScriptedEngine::Start().value();
  engine->AnswerAll(Script().Json("{}"));
  const TempFile file(ConfigFor(engine->uri()));
  Daemon daemon({absl::StrCat("--config=", file.path())});
  ASSERT_EQ(Ask(daemon.port(), PostRequest("/v1/chat/completions", R"({"model":"m"})")).status,
            200);
  const auto page = Ask(daemon.admin_port(), GetRequest("/metrics"));
  EXPECT_EQ(page.status, 200);
  for (const char* line :
       {"sluice_exchanges_total{cause=\"completed\"} 1\n", "sluice_exchanges_in_flight 0\n",
        "sluice_endpoint_attempts_total{endpoint=\"pools/chat/endpoints/a\"} 1\n",
        "sluice_exchange_duration_seconds_count 1\n"}) {
    EXPECT_THAT(page.body, HasSubstr(line));
  }
}

/// A daemon with one stream under way, of which one event has passed; the next waits at "rest".
class DaemonEndTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> all = {absl::StrCat("--config=", file_.path())};
    all.insert(all.end(), flags.begin(), flags.end());
    daemon_ = std::make_unique<Daemon>(all);
    engine_->Enqueue(
        Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").Chunk(kDoneEvent).LastChunk());
    client_ = std::make_unique<RawClient>(Connect(daemon_->port()));
    ASSERT_TRUE(client_->Send(ChatRequest()).ok());
    ASSERT_TRUE(client_->ReadHead().ok());
    ASSERT_EQ(client_->ReadChunk().value_or(""), ContentEvent("a"));
  }

  void ExpectDrainedEnding() {
    const std::string last = client_->ReadChunk().value_or("nothing");
    EXPECT_THAT(last, AllOf(HasSubstr("data: {\"error\":"), HasSubstr(R"("code":"drained")")));
    EXPECT_EQ(client_->ReadChunk().value_or("nothing"), "");
  }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  TempFile file_{ConfigFor(engine_->uri())};
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<RawClient> client_;
};

TEST_F(DaemonEndTest, B093_LetsARunningStreamEndOnASignal) {
  Start();
  daemon_->child().Signal(SIGTERM);
  ASSERT_TRUE(daemon_->child().WaitForErr("draining"));
  EXPECT_TRUE(
      Eventually([&] { return Ask(daemon_->admin_port(), GetRequest("/readyz")).status == 503; }));
  EXPECT_EQ(Ask(daemon_->admin_port(), GetRequest("/healthz")).status, 200);
  EXPECT_TRUE(Eventually([&] { return !RawClient::Connect(daemon_->port()).ok(); }))
      << "nothing new is taken";
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent);
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), "");
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, TakesAnInterruptForTheSame) {
  Start();
  daemon_->child().Signal(SIGINT);
  ASSERT_TRUE(daemon_->child().WaitForErr("draining"));
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent);
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, B093_EndsARunningStreamInItsDialectWhenTheTimeIsUp) {
  Start({"--drain=0s"});
  daemon_->child().Signal(SIGTERM);
  ExpectDrainedEnding();
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

TEST_F(DaemonEndTest, DoesNotWaitAfterASecondSignal) {
  Start();
  daemon_->child().Signal(SIGTERM);
  ASSERT_TRUE(daemon_->child().WaitForErr("draining"));
  daemon_->child().Signal(SIGTERM);
  ExpectDrainedEnding();
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, B133_GoesOnAfterItCouldNotAccept) {
  Start();
  rlimit limit;
  ASSERT_EQ(::prlimit(daemon_->child().pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = 3;
  ASSERT_EQ(::prlimit(daemon_->child().pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  RawClient waiting = Connect(daemon_->port());
  ASSERT_TRUE(waiting.Send(ChatRequest(false)).ok());
  ASSERT_TRUE(daemon_->child().WaitForErr("cannot accept"));

  engine_->AnswerAll(Script().Json("{}"));
  ASSERT_EQ(::prlimit(daemon_->child().pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  EXPECT_EQ(waiting.ReadResponse().value_or(RawResponse()).status, 200);
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent) << "the running stream went on";
}

TEST(DaemonHelpTest, ListsItsFlagsAndItsVersion) {
  ChildProcess help({SLUICE_BIN "/sluiced", "--help"});
  help.WaitForExit();
  for (const char* flag : {"--config", "--listen", "--control", "--control_roles", "--admin",
                           "--loops", "--drain", "--audit_log"}) {
    EXPECT_THAT(help.out(), ::testing::HasSubstr(flag));
  }
  ChildProcess version({SLUICE_BIN "/sluiced", "--version"});
  EXPECT_EQ(version.WaitForExit(), 0);
  EXPECT_THAT(version.out(), ::testing::StartsWith("sluiced "));
}

}  // namespace
}  // namespace sluice::testing
