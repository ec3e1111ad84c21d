#include "lib/ledger/ledger_file.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/ledger/finished_exchange.h"
#include "tests/support/eventually.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace sluice::ledger {
namespace {

using ::testing::Contains;
using testing::Eventually;
using testing::FinishedExchange;
using ::testing::HasSubstr;

class LedgerFileTest : public ::testing::Test {
 protected:
  LedgerFileTest() {
    SetLogSink([this](absl::string_view line) {
      MutexLock lock(&mutex_);
      log_.emplace_back(line);
    });
  }
  ~LedgerFileTest() override {
    ledger_.reset();
    SetLogSink({});
  }

  void Open(const std::string& path, size_t max_waiting = 10'000,
            Duration tick = std::chrono::milliseconds(5)) {
    auto ledger = LedgerFile::Open(path, {.max_waiting = max_waiting, .tick = tick});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    ledger_ = *std::move(ledger);
  }
  void Finish(uint64_t id) { ledger_->OnFinished(*FinishedExchange({.id = id})); }

  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  /// The ids of the lines, each of which is whole.
  static std::vector<uint64_t> Ids(const std::string& path) {
    std::vector<uint64_t> ids;
    const std::string text = Read(path);
    EXPECT_TRUE(text.empty() || text.back() == '\n');
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      EXPECT_TRUE(absl::StartsWith(line, "{\"time\":") && absl::EndsWith(line, "}")) << line;
      const size_t at = line.find("\"id\":\"");
      const auto id = ParseExchangeId(line.substr(at + 6, 17));
      EXPECT_TRUE(id.has_value()) << line;
      if (id) ids.push_back(id->value);
    }
    return ids;
  }
  static std::vector<uint64_t> UpTo(uint64_t last) {
    std::vector<uint64_t> ids;
    for (uint64_t id = 1; id <= last; ++id) ids.push_back(id);
    return ids;
  }
  std::vector<std::string> log() {
    MutexLock lock(&mutex_);
    return log_;
  }
  bool Logged(absl::string_view text) {
    for (const std::string& line : log()) {
      if (absl::StrContains(line, text)) return true;
    }
    return false;
  }

  testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/ledger.jsonl";
  Mutex mutex_;
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<LedgerFile> ledger_;
};

TEST_F(LedgerFileTest, HasALineForEachExchangeInOrder) {
  Open(path_);
  for (uint64_t id = 1; id <= 1000; ++id) Finish(id);
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(Read(path_), "00000003e8\""); }));
  ledger_.reset();
  EXPECT_EQ(Ids(path_), UpTo(1000));
}

TEST_F(LedgerFileTest, WritesWhatWaitsWhenItEnds) {
  Open(path_);
  for (uint64_t id = 1; id <= 100; ++id) Finish(id);
  ledger_.reset();
  EXPECT_EQ(Ids(path_), UpTo(100));
}

TEST_F(LedgerFileTest, AppendsToTheLedgerOfAnEarlierRun) {
  Open(path_);
  Finish(1);
  ledger_.reset();
  Open(path_);
  Finish(2);
  ledger_.reset();
  EXPECT_EQ(Ids(path_), UpTo(2));
}

TEST_F(LedgerFileTest, RefusesAFileThatCannotBeOpened) {
  const absl::Status status = LedgerFile::Open(directory_.path(), {}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_.path()));
}

TEST_F(LedgerFileTest, LosesNothingWhileTheDiskIsFullForAWhile) {
  Open(path_);
  Finish(1);
  ASSERT_TRUE(Eventually([&] { return !Read(path_).empty(); }));
  {
    const testing::FileSizeLimit limit(Read(path_).size() * 5 / 2);
    for (uint64_t id = 2; id <= 10; ++id) Finish(id);
    ASSERT_TRUE(Eventually([&] { return Logged("ERROR the ledger cannot be written"); }));
    EXPECT_EQ(Ids(path_), UpTo(2)) << "one more had room";
  }
  ASSERT_TRUE(Eventually([&] { return Logged("INFO no longer: the ledger cannot be written"); }));
  Finish(11);
  ledger_.reset();
  EXPECT_EQ(Ids(path_), UpTo(11));
}

TEST_F(LedgerFileTest, WritesAllAtItsEndThoughTheDiskWasFull) {
  Open(path_, 10'000, std::chrono::hours(1));
  {
    const testing::FileSizeLimit limit(10);
    Finish(1);
    ASSERT_TRUE(Eventually([&] { return Logged("ERROR the ledger cannot be written"); }));
    Finish(2);
  }
  ledger_.reset();
  EXPECT_EQ(Ids(path_), UpTo(2));
}

TEST_F(LedgerFileTest, CountsAndTellsWhatItLoses) {
  Open("/dev/full", 10);
  Finish(1);
  ASSERT_TRUE(Eventually([&] { return Logged("ERROR the ledger cannot be written"); }));
  for (uint64_t id = 2; id <= 14; ++id) Finish(id);
  EXPECT_EQ(ledger_->lost(), 3u);
  EXPECT_TRUE(Eventually(
      [&] { return Logged("exchanges are missing in the ledger count=3 since_start=3"); }));
  Finish(15);
  EXPECT_EQ(ledger_->lost(), 4u) << "as many wait as before";
  ledger_.reset();
  EXPECT_THAT(log(), Contains(HasSubstr("since_start=15")));
}

TEST_F(LedgerFileTest, GoesOnInANewFileWhenTheOldOneIsMovedAway) {
  Open(path_);
  Finish(1);
  ASSERT_TRUE(Eventually([&] { return !Read(path_).empty(); }));
  ASSERT_EQ(std::rename(path_.c_str(), (path_ + ".1").c_str()), 0);
  ASSERT_TRUE(Eventually([&] { return std::ifstream(path_).good(); })) << "though nothing ends";
  Finish(2);
  ledger_.reset();
  EXPECT_EQ(Ids(path_ + ".1"), std::vector<uint64_t>{1});
  EXPECT_EQ(Ids(path_), std::vector<uint64_t>{2});
}

}  // namespace
}  // namespace sluice::ledger
