// No secret comes out of the real programs anywhere, whatever happens to the exchanges.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <openssl/sha.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/support/chat_events.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"
#include "tests/support/scoped_env.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kSluicectl[] = SLUICE_BIN "/sluicectl";

const std::string kFileKey = "sk-canary-of-a-file-4f1d";
const std::string kVariableKey = "sk-canary-of-a-variable-9b2e";
const std::string kClientKey = "sk-canary-of-a-client-c07a";
const std::string kStrangerKey = "sk-canary-of-a-stranger-1e55";

std::string Sha256Hex(absl::string_view text) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash);
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash), sizeof hash});
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SecretsProgramTest : public ::testing::Test {
 protected:
  SecretsProgramTest() {
    ChildProcess made({kSluicectl, "token", "new", "alice", "--role", "operator"});
    EXPECT_EQ(made.WaitForExit(), 0);
    const std::vector<std::string> lines = absl::StrSplit(made.out(), '\n');
    token_ = lines[0].substr(lines[0].rfind(' ') + 1);
    token_file_ = Write("token", token_);
    const std::string roles = Write("roles", lines[1].substr(7) + "\n");
    const std::string key_file = Write("pool-key", kFileKey + "\n");
    const std::string client_keys =
        Write("client-keys", absl::StrCat("bob ", Sha256Hex(kClientKey), "\n"));
    config_ =
        Write("config.json",
              absl::StrCat(R"({"pools":[{"id":"chat","endpoints":[{"id":"a","uri":")",
                           engine_->uri(), R"("}],"keys":[{"id":"key-in-a-file","file":")",
                           key_file, R"("},{"id":"key-in-a-variable","env":"SLUICE_TEST_KEY"}]},)",
                           R"({"id":"other","endpoints":[{"id":"b","uri":")", other_->uri(),
                           R"("}]}],"routes":[{"model":"other","pool":"other"},)",
                           R"({"model":"*","pool":"chat"}]})"));
    std::filesystem::create_directory(directory_.path() + "/state");
    daemon_ = std::make_unique<Daemon>(std::vector<std::string>{
        "--config=" + config_, "--client_keys=" + client_keys, "--control_roles=" + roles,
        "--audit_log=" + directory_.path() + "/audit.log",
        "--ledger=" + directory_.path() + "/ledger.jsonl",
        "--state=" + directory_.path() + "/state"});
  }

  std::string Write(const std::string& name, absl::string_view text) {
    const std::string path = absl::StrCat(directory_.path(), "/", name);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
    inputs_.push_back(path);
    return path;
  }

  void Ask(uint16_t port, const std::string& request) {
    RawClient client = RawClient::Connect(port).value();
    ASSERT_TRUE(client.Send(request).ok());
    const RawResponse response = client.ReadResponse().value_or(RawResponse());
    EXPECT_NE(response.status, 0);
    absl::StrAppend(&outputs_, response.head, response.body);
  }
  /// A chat request of the client whose key is known. `answer` is told what the upstream was sent.
  void AskAsBob(std::function<Script(const std::string& key)> answer) {
    engine_->SetResponder([answer = std::move(answer)](const EngineRequest& request) {
      return answer(request.HeaderValues("Authorization").at(0).substr(std::strlen("Bearer ")));
    });
    Ask(daemon_->port(),
        ChatRequest(true, absl::StrCat("Authorization: Bearer ", kClientKey, "\r\n")));
  }

  void Sluicectl(std::vector<std::string> args) {
    for (const char* output : {"text", "json"}) {
      std::vector<std::string> all = {kSluicectl};
      all.insert(all.end(), args.begin(), args.end());
      all.insert(all.end(), {"--output", output, "--token-file", token_file_, "--server",
                             absl::StrCat("127.0.0.1:", daemon_->control_port())});
      ChildProcess child(all);
      child.WaitForExit();
      absl::StrAppend(&outputs_, child.out(), child.err());
    }
  }

  /// Adds what the daemon wrote to disk.
  void ReadFiles() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      const bool ours = std::find(inputs_.begin(), inputs_.end(), entry.path()) != inputs_.end();
      if (entry.is_regular_file() && !ours) outputs_ += ReadAll(entry.path());
    }
  }

  const TempDirectory directory_;
  const ScopedEnv variable_{"SLUICE_TEST_KEY", kVariableKey};
  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  std::unique_ptr<ScriptedEngine> other_ = ScriptedEngine::Start().value();
  std::vector<std::filesystem::path> inputs_;
  std::string token_, token_file_, config_;
  std::unique_ptr<Daemon> daemon_;
  std::string outputs_;  // all that anybody was shown
};

TEST_F(SecretsProgramTest, NothingShowsAKeyOrAToken) {
  const std::string good = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);
  const auto error = [](const std::string& key) {
    return absl::StrCat(R"({"error":{"message":"bad key )", key, R"(","type":")", key,
                        R"(","code":")", key, R"("}})");
  };
  AskAsBob([&](auto) { return Script().SseHead().Chunk(good).LastChunk(); });
  AskAsBob([&](auto) { return Script().SseHead().Chunk(ContentEvent("a")).Reset(); });
  AskAsBob([&](auto) { return Script().Fin(); });
  AskAsBob([&](auto key) {
    return Script().SseHead().Chunk(absl::StrCat("data: ", error(key), "\n\n")).LastChunk();
  });
  for (const char* status : {"429 Slow down", "401 Unauthorized", "403 Forbidden"}) {
    AskAsBob([&](auto key) { return Script().Json(error(key), status); });
  }
  for (const char* field : {"Authorization: Bearer ", "x-api-key: ", "api-key: "}) {
    Ask(daemon_->port(), ChatRequest(true, absl::StrCat(field, kStrangerKey, "\r\n")));
  }
  other_->AnswerAll(Script().Json("{}"));
  Ask(daemon_->port(),
      PostRequest("/v1/chat/completions", R"({"model":"other"})",
                  absl::StrCat("x-api-key: ", kClientKey, "\r\nCookie: key=", kClientKey, "\r\n")));
  for (const char* target : {"/metrics", "/healthz", "/readyz"}) {
    Ask(daemon_->admin_port(), GetRequest(target));
  }
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"watch", "--tail", "1000", "--no-follow"},
                                             {"usage", "--by", "principal"},
                                             {"exchange", "list"},
                                             {"config", "get"},
                                             {"config", "versions"},
                                             {"config", "plan", config_},
                                             {"config", "validate", config_},
                                             {"config", "apply", config_},
                                             {"endpoint", "list"},
                                             {"pool", "list"},
                                             {"doctor"}}) {
    Sluicectl(command);
  }
  outputs_ += ReadAll(absl::StrCat("/proc/", daemon_->child().pid(), "/cmdline"));
  daemon_->child().Signal(SIGTERM);
  EXPECT_EQ(daemon_->child().WaitForExit(), 0);
  outputs_ += daemon_->child().out() + daemon_->child().err();
  ReadFiles();

  // What may be seen was seen.
  for (const char* known : {"key-in-a-file", "key-in-a-variable", "bob", "alice", "unauthenticated",
                            "upstream_error_frame", "no_capacity"}) {
    EXPECT_THAT(outputs_, HasSubstr(known));
  }
  const std::vector<EngineRequest> requests = engine_->requests();
  for (const std::string& key : {kFileKey, kVariableKey}) {
    EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), [&](const EngineRequest& request) {
      return absl::StrContains(request.head, key);
    }));
  }
  for (const std::string& secret : {kFileKey, kVariableKey, kClientKey, kStrangerKey, token_}) {
    for (const absl::string_view line : absl::StrSplit(outputs_, '\n')) {
      EXPECT_FALSE(absl::StrContains(line, secret)) << line;
    }
  }
  for (const EngineRequest& request : requests) {
    EXPECT_FALSE(absl::StrContains(request.head, kClientKey)) << request.head;
  }
  ASSERT_EQ(other_->requests().size(), 1u);
  EXPECT_FALSE(absl::StrContains(other_->requests()[0].head, "canary"))
      << other_->requests()[0].head;
}

}  // namespace
}  // namespace sluice::testing
