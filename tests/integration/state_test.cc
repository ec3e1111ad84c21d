// The daemon's configuration over the end of the process: `--state`, and `sluicectl` on it.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <signal.h>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "tests/integration/daemon.h"
#include "tests/integration/daemon_client.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"
#include "tests/support/scoped_env.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class StateTest : public ::testing::Test {
 protected:
  std::vector<std::string> Flags(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags = {absl::StrCat("--state=", dir_.path())};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  /// A new daemon in the place of the one before, which is killed if it runs.
  void Restart(const std::vector<std::string>& more = {}) {
    daemon_ = nullptr;
    daemon_ = std::make_unique<Daemon>(Flags(more));
    stub_ = pb::ControlService::NewStub(grpc::CreateChannel(
        absl::StrCat("127.0.0.1:", daemon_->control_port()), grpc::InsecureChannelCredentials()));
  }

  void Kill() {
    daemon_->child().Signal(SIGKILL);
    ASSERT_EQ(daemon_->child().WaitForExit(), 128 + SIGKILL);
  }

  pb::Config GetConfig() {
    grpc::ClientContext context;
    pb::Config config;
    const grpc::Status status = stub_->GetConfig(&context, {}, &config);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return config;
  }

  /// Sets the limit that the tests tell versions apart by.
  grpc::Status SetMaxInFlight(int value, const std::string& etag, pb::Config* updated) {
    pb::UpdateConfigRequest request;
    request.mutable_config()->set_etag(etag);
    request.mutable_config()->mutable_limits()->set_max_in_flight(value);
    grpc::ClientContext context;
    return stub_->UpdateConfig(&context, request, updated);
  }

  /// A daemon that is to end by itself.
  int ExitCodeOf(const std::vector<std::string>& more, std::string* err) {
    ChildProcess child(Daemon::Args(Flags(more)));
    const int code = child.WaitForExit();
    *err = child.err();
    return code;
  }

  int Sluicectl(std::vector<std::string> args, std::string* out = nullptr) {
    args.insert(args.begin(), SLUICE_BIN "/sluicectl");
    args.push_back(absl::StrCat("--server=127.0.0.1:", daemon_->control_port()));
    ChildProcess child(args);
    const int code = child.WaitForExit();
    if (out != nullptr) *out = absl::StrCat(child.out(), child.err());
    return code;
  }

  std::string LatestFile() const {
    std::string latest;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      latest = std::max(latest, entry.path().string());
    }
    return latest;
  }

  TempDirectory dir_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<pb::ControlService::Stub> stub_;
};

TEST_F(StateTest, IsThereAgainAfterAKill) {
  const TempFile file(ConfigFor("http://127.0.0.1:9"));
  Restart({absl::StrCat("--config=", file.path())});
  EXPECT_EQ(GetConfig().generation(), 1) << "the file seeds the state";
  pb::Config updated;
  ASSERT_TRUE(SetMaxInFlight(7, GetConfig().etag(), &updated).ok());
  Kill();
  Restart({absl::StrCat("--config=", file.path())});
  EXPECT_EQ(GetConfig().SerializeAsString(), updated.SerializeAsString());
  EXPECT_TRUE(SetMaxInFlight(8, updated.etag(), &updated).ok()) << "its etag still counts";
  EXPECT_EQ(updated.generation(), 3);
  EXPECT_THAT(daemon_->child().err(),
              AllOf(HasSubstr("WARN"), HasSubstr("--config is not used"), HasSubstr("generation=2"),
                    HasSubstr("sluicectl config apply")));
}

TEST_F(StateTest, SaysNothingOfAFileThatHoldsTheSame) {
  const TempFile file(ConfigFor("http://127.0.0.1:9"));
  Restart({absl::StrCat("--config=", file.path())});
  Restart({absl::StrCat("--config=", file.path())});
  EXPECT_EQ(GetConfig().generation(), 1);
  EXPECT_THAT(daemon_->child().err(), Not(HasSubstr("WARN")));
}

TEST_F(StateTest, BeginsEmptyAndKeepsTheFirstVersion) {
  Restart();
  EXPECT_EQ(GetConfig().generation(), 0);
  pb::Config updated;
  ASSERT_TRUE(SetMaxInFlight(7, GetConfig().etag(), &updated).ok());
  Restart();
  EXPECT_EQ(GetConfig().generation(), 1);
  EXPECT_EQ(GetConfig().limits().max_in_flight(), 7);
}

// A client changes the configuration as fast as it can; the daemon is killed at any moment of that.
TEST_F(StateTest, HasTheOldVersionOrTheNewOneAfterAKillAtAnyMoment) {
  constexpr int kKills = 15;
  constexpr int kBase = 1000;
  for (int kill = 0; kill < kKills; ++kill) {
    Restart();
    std::atomic<int64_t> accepted = GetConfig().generation();
    const int64_t enough = accepted + 1 + kill;
    std::thread writer([&] {
      std::string etag = GetConfig().etag();
      while (true) {
        pb::Config updated;
        const int next = static_cast<int>(accepted) + 1;
        if (!SetMaxInFlight(kBase + next, etag, &updated).ok()) return;
        etag = updated.etag();
        accepted = updated.generation();
      }
    });
    EXPECT_TRUE(Eventually([&] { return accepted >= enough; }));
    Kill();
    writer.join();
    Restart();
    const pb::Config config = GetConfig();
    EXPECT_GE(config.generation(), accepted) << "what was confirmed is there";
    EXPECT_LE(config.generation(), accepted + 1);
    EXPECT_EQ(config.limits().max_in_flight(), kBase + config.generation());
  }
}

TEST_F(StateTest, IsUsedByOneDaemonAtATime) {
  Restart();
  std::string err;
  EXPECT_EQ(ExitCodeOf({}, &err), 1);
  EXPECT_THAT(err, AllOf(HasSubstr(dir_.path()), HasSubstr("another process")));
}

TEST_F(StateTest, RefusesToStartFromABrokenVersion) {
  Restart();
  pb::Config updated;
  ASSERT_TRUE(SetMaxInFlight(7, GetConfig().etag(), &updated).ok());
  ASSERT_TRUE(SetMaxInFlight(8, updated.etag(), &updated).ok());
  daemon_ = nullptr;
  const std::string latest = LatestFile();
  const TempFile good(ConfigFor("http://127.0.0.1:9"));
  for (const char* text : {"", "{\"config\":{\"generation\":2,\"etag\":\"e\",\"pools\":[{}]}}"}) {
    std::ofstream(latest) << text;
    std::string err;
    EXPECT_EQ(ExitCodeOf({absl::StrCat("--config=", good.path())}, &err), 2);
    EXPECT_THAT(err, HasSubstr(latest));
  }
  std::filesystem::remove(latest);
  Restart();
  EXPECT_EQ(GetConfig().limits().max_in_flight(), 7);
}

TEST_F(StateTest, RefusesToStartWithoutItsDirectory) {
  std::string err;
  std::filesystem::remove(dir_.path());
  EXPECT_EQ(ExitCodeOf({}, &err), 1);
  EXPECT_THAT(err, AllOf(HasSubstr(dir_.path()), HasSubstr("No such file")));
}

TEST_F(StateTest, StartsWithoutAKeyThatCannotBeReadAndNamesIt) {
  const std::unique_ptr<ScriptedEngine> engine = ScriptedEngine::Start().value();
  engine->AnswerAll(Script().Json("{}"));
  const ScopedEnv other("SLUICE_TEST_OTHER_KEY", "sk-other");
  {
    const ScopedEnv key("SLUICE_TEST_STATE_KEY", "sk-secret");
    const TempFile file(absl::StrCat(
        R"({"pools":[{"id":"chat","endpoints":[{"id":"a","uri":")", engine->uri(),
        R"("}],"keys":[{"id":"k1","env":"SLUICE_TEST_STATE_KEY"},)"
        R"({"id":"k2","env":"SLUICE_TEST_OTHER_KEY"}]}],"routes":[{"model":"*","pool":"chat"}]})"));
    Restart({absl::StrCat("--config=", file.path())});
    std::ifstream stored(LatestFile());
    const std::string text(std::istreambuf_iterator<char>(stored), {});
    EXPECT_THAT(text, AllOf(HasSubstr("SLUICE_TEST_STATE_KEY"), Not(HasSubstr("sk-secret"))));
    daemon_ = nullptr;
  }
  Restart();
  EXPECT_THAT(daemon_->child().err(),
              AllOf(HasSubstr("WARN a key of a pool cannot be read; it is not used until it can be "
                              "pool=chat key=k1 reason="),
                    Not(HasSubstr("key=k2"))));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Ask(daemon_->port(), ChatRequest(false)).status, 200);
    EXPECT_THAT(engine->requests().back().HeaderValues("Authorization"),
                ElementsAre("Bearer sk-other"));
  }
  std::string out;
  EXPECT_EQ(Sluicectl({"pool", "list"}, &out), 0);
  EXPECT_THAT(out, HasSubstr("1 of 2: k1 unreadable"));
  pb::Config updated;
  EXPECT_TRUE(SetMaxInFlight(7, GetConfig().etag(), &updated).ok()) << "it is no matter of that";
}

TEST_F(StateTest, IsChangedByEveryCommand) {
  const TempFile first(ConfigFor("http://127.0.0.1:9"));
  const TempFile second(ConfigFor("http://127.0.0.1:10"));
  const TempFile invalid(R"({"pools":[{"id":"NO ID"}]})");
  Restart({absl::StrCat("--config=", first.path())});
  std::string out;
  EXPECT_EQ(Sluicectl({"config", "validate", second.path()}), 0);
  EXPECT_EQ(Sluicectl({"config", "validate", invalid.path()}, &out), 6);
  EXPECT_THAT(out, HasSubstr("pools[0].id: "));
  EXPECT_EQ(Sluicectl({"config", "plan", invalid.path()}), 6);
  EXPECT_EQ(Sluicectl({"config", "plan", second.path()}, &out), 0);
  EXPECT_THAT(out, HasSubstr("~ pools/chat/endpoints/a.uri: \"http://127.0.0.1:9\" -> "
                             "\"http://127.0.0.1:10\"\nin force: generation 1, etag "));
  EXPECT_EQ(Sluicectl({"config", "apply", second.path(), "--etag", "old"}), 4);
  EXPECT_EQ(Sluicectl({"config", "apply", second.path()}), 0);
  EXPECT_EQ(Sluicectl({"endpoint", "add", "chat", "b", "http://127.0.0.1:11"}), 0);
  EXPECT_EQ(Sluicectl({"endpoint", "add", "chat", "b", "http://127.0.0.1:11"}), 1);
  EXPECT_EQ(Sluicectl({"endpoint", "add", "talk", "b", "http://127.0.0.1:11"}), 5);
  EXPECT_EQ(Sluicectl({"endpoint", "add", "chat", "c", "nowhere"}), 6);
  EXPECT_EQ(Sluicectl({"endpoint", "remove", "pools/chat/endpoints/a"}), 0);
  EXPECT_EQ(Sluicectl({"endpoint", "remove", "pools/chat/endpoints/a"}), 5);
  EXPECT_EQ(Sluicectl({"config", "rollback", "1"}), 0);
  EXPECT_EQ(Sluicectl({"config", "rollback", "99"}), 5);
  {
    const ScopedEnv editor("EDITOR", "sed -i s/127.0.0.1:9/127.0.0.1:12/");
    EXPECT_EQ(Sluicectl({"config", "edit"}), 0);
  }
  EXPECT_EQ(GetConfig().pools(0).endpoints(0).uri(), "http://127.0.0.1:12");
  EXPECT_EQ(GetConfig().generation(), 6);
  Restart();
  EXPECT_EQ(Sluicectl({"config", "versions"}, &out), 0);
  for (const char* origin :
       {"--config", "start", "update config", "add endpoint pools/chat/endpoints/b",
        "remove endpoint pools/chat/endpoints/a", "rollback to generation 1"}) {
    EXPECT_THAT(out, HasSubstr(origin));
  }
  EXPECT_EQ(Sluicectl({"config", "get", "--generation", "2"}, &out), 0);
  EXPECT_THAT(out, HasSubstr("http://127.0.0.1:10"));
}

}  // namespace
}  // namespace sluice::testing
