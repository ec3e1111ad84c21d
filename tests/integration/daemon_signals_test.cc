// What the daemon does on SIGHUP, and what it tells its supervisor.

#include <fstream>
#include <signal.h>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/integration/daemon_client.h"
#include "tests/integration/notify_socket.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// printf %s first | sha256sum, and so on
constexpr char kLineOfFirst[] =
    "alice a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e\n";
constexpr char kLineOfSecond[] =
    "alice 16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4\n";

class ReloadTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, absl::string_view text) {
    const std::string path = absl::StrCat(directory_.path(), "/", name);
    std::ofstream(path) << text;
    return path;
  }

  /// Returns when the files have been read.
  std::string HangUp(Daemon& daemon) {
    const size_t before = daemon.child().err().size();
    daemon.child().Signal(SIGHUP);
    EXPECT_TRUE(daemon.child().WaitForMoreErr(before, "read keys and certificates again"));
    return daemon.child().err().substr(before);
  }

  int StatusFor(Daemon& daemon, const std::string& key) {
    const std::string header = absl::StrCat("Authorization: Bearer ", key, "\r\n");
    return Ask(daemon.port(), ChatRequest(false, header)).status;
  }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  TempDirectory directory_;
};

TEST_F(ReloadTest, ReadsClientKeysAtOnceAndKeepsThoseBeforeABrokenFile) {
  engine_->AnswerAll(Script().Json("{}"));
  const TempFile config(ConfigFor(engine_->uri()));
  const std::string keys = Write("keys", kLineOfFirst);
  Daemon daemon({absl::StrCat("--config=", config.path()), absl::StrCat("--client_keys=", keys)});
  ASSERT_EQ(StatusFor(daemon, "first"), 200);
  ASSERT_EQ(StatusFor(daemon, "second"), 401);
  Write("keys", kLineOfSecond);
  HangUp(daemon);
  EXPECT_THAT(daemon.child().err(), HasSubstr("the client keys file has changed"));
  EXPECT_EQ(StatusFor(daemon, "first"), 401);
  EXPECT_EQ(StatusFor(daemon, "second"), 200);
  Write("keys", "alice nonsense\n");
  HangUp(daemon);
  EXPECT_THAT(HangUp(daemon), HasSubstr("the client keys file cannot be used"))
      << "each time that one asks";
  EXPECT_EQ(StatusFor(daemon, "second"), 200);
}

TEST_F(ReloadTest, ReadsKeysOfPoolsAtOnceAndKeepsThoseThatAreGone) {
  engine_->AnswerAll(Script().Json("{}"));
  const std::string key = Write("key", "old-key");
  const TempFile config(absl::StrCat(R"({"pools":[{"id":"chat","endpoints":[{"id":"a","uri":")",
                                     engine_->uri(), R"("}],"keys":[{"id":"k","file":")", key,
                                     R"("}]}],"routes":[{"model":"*","pool":"chat"}]})"));
  Daemon daemon({absl::StrCat("--config=", config.path())});
  const auto sent_key = [&] {
    EXPECT_EQ(Ask(daemon.port(), ChatRequest(false)).status, 200);
    return engine_->requests().back().HeaderValues("Authorization").at(0);
  };
  ASSERT_EQ(sent_key(), "Bearer old-key");
  Write("key", "new-key");
  HangUp(daemon);
  EXPECT_EQ(sent_key(), "Bearer new-key");
  std::remove(key.c_str());
  HangUp(daemon);
  EXPECT_THAT(HangUp(daemon),
              HasSubstr("a key of a pool cannot be read; it keeps the value it had pool=chat key="))
      << "each time that one asks";
  EXPECT_EQ(sent_key(), "Bearer new-key");
  EXPECT_THAT(daemon.child().err(), Not(HasSubstr("new-key")));
}

TEST(SupervisorTest, HearsWhenTheDaemonServesReloadsAndEnds) {
  const TempDirectory directory;
  for (const std::string& name :
       {directory.path() + "/notify", absl::StrCat("@sluice-notify-", ::getpid())}) {
    NotifySocket systemd(name);
    Daemon daemon;
    EXPECT_EQ(systemd.NextMessage(), "READY=1");
    EXPECT_EQ(Ask(daemon.admin_port(), GetRequest("/readyz")).status, 200);
    daemon.child().Signal(SIGHUP);
    EXPECT_THAT(systemd.NextMessage(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
    EXPECT_EQ(systemd.NextMessage(), "READY=1");
    daemon.child().Signal(SIGTERM);
    EXPECT_EQ(systemd.NextMessage(), "STOPPING=1");
    EXPECT_EQ(daemon.child().WaitForExit(), 0);
  }
}

TEST(SupervisorTest, IsNotNeeded) {
  const TempDirectory directory;
  const ScopedEnv variable("NOTIFY_SOCKET", directory.path() + "/nobody");
  Daemon daemon;
  EXPECT_TRUE(daemon.child().WaitForErr("the supervisor cannot be told"));
  EXPECT_EQ(Ask(daemon.admin_port(), GetRequest("/healthz")).status, 200);
}

}  // namespace
}  // namespace sluice::testing
