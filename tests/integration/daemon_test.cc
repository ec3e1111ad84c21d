// The daemon as a process: its command line, its configuration file, its probes.

#include "tests/integration/daemon.h"

#include <signal.h>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon_client.h"
#include "tests/support/chat_events.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kSluicectl[] = SLUICE_BIN "/sluicectl";

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
  for (const Wrong& wrong :
       {Wrong{"--no_such_flag", "no_such_flag"}, Wrong{"--nolisten", "nolisten"},
        Wrong{"--loops=many", "loops"}, Wrong{"--loops=-1", "loops"},
        Wrong{"--loops=1025", "loops"}, Wrong{"--loops", "loops"}, Wrong{"--drain=soon", "drain"},
        Wrong{"--drain=-1s", "drain"}, Wrong{"--drain_grace=-1s", "drain_grace"},
        Wrong{"--log_format=xml", "log_format"}, Wrong{"stray", "stray"}}) {
    const Ended ended = RunToEnd(Daemon::Args({wrong.flag}));
    EXPECT_EQ(ended.code, 2) << wrong.flag;
    EXPECT_THAT(ended.err, HasSubstr(wrong.word));
  }
}

TEST(DaemonFlagsTest, TakesAValueInTheNextArgumentAndSwitchesBothWays) {
  Daemon daemon({"--drain", "1s", "-log_format=json", "--noallow_anonymous", "--allow_anonymous"});
  daemon.child().Signal(SIGTERM);
  EXPECT_EQ(daemon.child().WaitForExit(), 0) << daemon.child().err();
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
  engine->AnswerAll(Script().Json("{}"));
  const TempFile file(ConfigFor(engine->uri()));
  Daemon daemon({absl::StrCat("--config=", file.path())});
  for (const char* probe : {"/healthz", "/readyz", "/metrics"}) {
    EXPECT_EQ(Ask(daemon.admin_port(), GetRequest(probe)).status, 200) << probe;
    const RawResponse to_client = Ask(daemon.port(), GetRequest(probe));
    EXPECT_EQ(to_client.status, 404) << probe;
    EXPECT_THAT(to_client.body, HasSubstr(R"("code":"not_found")"));
  }
  EXPECT_EQ(engine->counts().requests, 0u) << "nor are those of the upstream to be had";
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
