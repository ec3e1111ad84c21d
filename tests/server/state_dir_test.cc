#include "server/state_dir.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/support/temp_dir.h"

namespace sluice::server {
namespace {

namespace fs = ::std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

config::Version VersionOf(uint64_t generation, const std::string& pool = "chat") {
  config::Version version{.generation = generation,
                          .etag = absl::StrCat("etag-", generation),
                          .time = absl::FromUnixNanos(1'767'323'045'123'456'789),
                          .by = {"ann", "update config"}};
  version.config.pools = {{.id = pool, .endpoints = {{"a", "http://127.0.0.1:9000"}}}};
  version.config.pools[0].keys = {{.id = "k1", .env = "KEY"}};
  version.config.routes = {{"*", pool}};
  version.config.limits.max_in_flight = 5;
  return version;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WriteFile(const fs::path& path, absl::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class StateDirTest : public ::testing::Test {
 protected:
  StateDirTest() {
    SetLogSink([this](absl::string_view line) { log_.emplace_back(line); });
  }
  ~StateDirTest() override { SetLogSink({}); }

  std::unique_ptr<StateDir> Opened() {
    auto opened = StateDir::Open(dir_.path());
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  /// As a new process sees it.
  std::vector<uint64_t> LoadedGenerations() {
    const auto versions = Opened()->Load();
    EXPECT_TRUE(versions.ok()) << versions.status();
    std::vector<uint64_t> generations;
    for (const config::Version& version : *versions) generations.push_back(version.generation);
    return generations;
  }

  std::string LoadError() {
    const absl::Status status = Opened()->Load().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message());
  }

  void Append(const config::Version& version) {
    const absl::Status appended = Opened()->Append(version);
    ASSERT_TRUE(appended.ok()) << appended;
  }

  fs::path FileOf(uint64_t generation) const {
    return fs::path(dir_.path()) / absl::StrFormat("config-%020d.json", generation);
  }

  testing::TempDirectory dir_;
  std::vector<std::string> log_;
};

TEST_F(StateDirTest, KeepsAllOfAVersion) {
  Append(VersionOf(42));
  const auto versions = Opened()->Load();
  ASSERT_TRUE(versions.ok()) << versions.status();
  ASSERT_EQ(versions->size(), 1u);
  const config::Version& loaded = (*versions)[0];
  EXPECT_EQ(loaded.config, VersionOf(42).config);
  EXPECT_EQ(loaded.generation, 42u);
  EXPECT_EQ(loaded.etag, "etag-42");
  EXPECT_EQ(loaded.time, VersionOf(42).time);
  EXPECT_EQ(loaded.by.author, "ann");
  EXPECT_EQ(loaded.by.origin, "update config");
  EXPECT_TRUE(fs::exists(dir_.path() + "/config-00000000000000000042.json"));
  EXPECT_EQ(fs::status(FileOf(42)).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(StateDirTest, LoadsInTheOrderOfGenerations) {
  for (const uint64_t generation : {9, 100, 10, 11}) Append(VersionOf(generation));
  EXPECT_THAT(LoadedGenerations(), ElementsAre(9, 10, 11, 100));
}

TEST_F(StateDirTest, IsEmptyAtFirst) { EXPECT_THAT(LoadedGenerations(), IsEmpty()); }

TEST_F(StateDirTest, DropsWhatIsOlder) {
  for (const uint64_t generation : {1, 2, 3}) Append(VersionOf(generation));
  Opened()->DropBefore(3);
  EXPECT_THAT(LoadedGenerations(), ElementsAre(3));
}

TEST_F(StateDirTest, IgnoresForeignFiles) {
  Append(VersionOf(1));
  for (const char* name : {"README", "config-2.json", "config-00000000000000000002.json.bak",
                           "config-0000000000000000000x.json", "xconfig-00000000000000000002.json",
                           "config-99999999999999999999.json"}) {
    WriteFile(fs::path(dir_.path()) / name, "{");
  }
  EXPECT_THAT(LoadedGenerations(), ElementsAre(1));
  EXPECT_THAT(log_, IsEmpty());
}

// The states that a kill can leave behind: the new file under another name with any part of its
// bytes, then the same with all of them, then the file in place.
TEST_F(StateDirTest, HasTheOldVersionOrTheNewOneWhereverAWriteWasCut) {
  Append(VersionOf(1));
  Append(VersionOf(2, "other"));
  const std::string whole = ReadFile(FileOf(2));
  ASSERT_GT(whole.size(), 100u);
  fs::remove(FileOf(2));
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    WriteFile(fs::path(dir_.path()) / "unfinished.tmp", whole.substr(0, bytes));
    ASSERT_THAT(LoadedGenerations(), ElementsAre(1)) << bytes;
  }
  Append(VersionOf(2, "third"));
  EXPECT_THAT(LoadedGenerations(), ElementsAre(1, 2));
  EXPECT_FALSE(fs::exists(fs::path(dir_.path()) / "unfinished.tmp"));
}

TEST_F(StateDirTest, LeavesNothingOfAVersionThatDoesNotFit) {
  Append(VersionOf(1));
  const uintmax_t size = fs::file_size(FileOf(1));
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const std::unique_ptr<StateDir> dir = Opened();
  for (const uintmax_t limit : {uintmax_t{0}, uintmax_t{1}, size - 1}) {
    const rlimit small = {.rlim_cur = limit, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const absl::Status appended = dir->Append(VersionOf(2));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_FALSE(appended.ok());
    EXPECT_THAT(std::string(appended.message()), HasSubstr(FileOf(2).string()));
    EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()), 1);
  }
  signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(dir->Append(VersionOf(2)).ok());
}

TEST_F(StateDirTest, FailsWhenTheDirectoryIsGone) {
  const std::unique_ptr<StateDir> dir = Opened();
  fs::remove_all(dir_.path());
  EXPECT_FALSE(dir->Append(VersionOf(1)).ok());
}

TEST_F(StateDirTest, RefusesABrokenLatestVersionByName) {
  Append(VersionOf(1));
  Append(VersionOf(2));
  const std::string whole = ReadFile(FileOf(2));
  for (const std::string& broken :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("{}"),
        absl::StrReplaceAll(whole, {{"\"endpoints\"", "\"endpointz\""}}),
        absl::StrReplaceAll(whole, {{"\"generation\": \"2\"", "\"generation\": \"3\""}}),
        absl::StrReplaceAll(whole, {{"\"RELAY_MODE_IDENTICAL\"", "9"}}),
        absl::StrReplaceAll(whole, {{"\"etag-2\"", "\"\""}})}) {
    ASSERT_NE(broken, whole);
    WriteFile(FileOf(2), broken);
    EXPECT_THAT(LoadError(), AllOf(HasSubstr(FileOf(2).string()), HasSubstr("latest version")))
        << broken;
  }
}

TEST_F(StateDirTest, RefusesALatestVersionThatIsNoFile) {
  Append(VersionOf(1));
  fs::create_directory(FileOf(2));
  EXPECT_THAT(LoadError(), HasSubstr(FileOf(2).string()));
}

TEST_F(StateDirTest, LeavesOutABrokenEarlierVersionAndSaysSo) {
  for (const uint64_t generation : {1, 2, 3}) Append(VersionOf(generation));
  WriteFile(FileOf(2), "{");
  EXPECT_THAT(LoadedGenerations(), ElementsAre(1, 3));
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_THAT(log_[0], AllOf(HasSubstr("WARN"), HasSubstr(FileOf(2).string())));
}

TEST_F(StateDirTest, BelongsToOneProcessAtATime) {
  std::unique_ptr<StateDir> first = Opened();
  const absl::Status second = StateDir::Open(dir_.path()).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()),
              AllOf(HasSubstr(dir_.path()), HasSubstr("another process")));
  first = nullptr;
  EXPECT_TRUE(StateDir::Open(dir_.path()).ok());
}

TEST_F(StateDirTest, NeedsADirectory) {
  WriteFile(fs::path(dir_.path()) / "file", "");
  for (const std::string& path : {dir_.path() + "/none", dir_.path() + "/file"}) {
    EXPECT_THAT(std::string(StateDir::Open(path).status().message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace sluice::server
