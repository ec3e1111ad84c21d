// What a kill -9 leaves of a ledger.

#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "rapidjson/document.h"

#include "lib/ledger/ledger_file.h"
#include "tests/ledger/finished_exchange.h"
#include "tests/support/temp_dir.h"

namespace sluice::ledger {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A process that finishes exchanges until it is killed; it never returns.
[[noreturn]] void FinishForever(const std::string& path) {
  auto ledger = LedgerFile::Open(path, {.max_waiting = 100});
  if (!ledger.ok()) ::_exit(1);
  for (uint64_t id = 1;; ++id) {
    (*ledger)->OnFinished(
        *testing::FinishedExchange({.id = id, .model = std::string(id % 256, 'm')}));
  }
}

/// The lines of `text`, each of which must be JSON; what follows the last newline apart.
int CountLines(absl::string_view text) {
  int count = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    rapidjson::Document json;
    json.Parse(line.data(), line.size());
    EXPECT_TRUE(!json.HasParseError() && json.IsObject() && json.HasMember("duration_ms")) << line;
    ++count;
  }
  return count;
}

TEST(LedgerKillTest, LeavesWholeLinesAndLosesNoneThatWasThere) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not follow a child that makes threads";
#endif
  const testing::TempDirectory directory;
  const std::string path = directory.path() + "/ledger.jsonl";
  std::mt19937 random(1);
  size_t before = 0;
  for (int round = 0; round < 10; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) FinishForever(path);
    const size_t enough = before + 20'000 + random() % 50'000;
    while (Read(path).size() < enough && ::waitpid(child, nullptr, WNOHANG) == 0) {
    }
    const std::string seen = Read(path);  // may end amid a line
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));

    ASSERT_TRUE(LedgerFile::Open(path, {}).ok());  // and ends
    const std::string after = Read(path);
    EXPECT_TRUE(absl::EndsWith(after, "}\n"));
    const size_t whole = seen.rfind('\n') + 1;
    EXPECT_EQ(after.substr(0, whole), seen.substr(0, whole));
    EXPECT_GT(CountLines(after), 0);
    before = after.size();
  }
}

}  // namespace
}  // namespace sluice::ledger
