#include "lib/base/line_file.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace sluice {
namespace {

using ::testing::StartsWith;

class LineFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<LineFile> Open() {
    auto file = LineFile::Open(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  void Put(const std::string& text) { std::ofstream(path_) << text; }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::string Read() const { return Read(path_); }

  testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/lines";
};

absl::Status Append(LineFile& file, absl::string_view lines, absl::string_view* left = nullptr) {
  absl::Status status = file.Append(&lines);
  if (left != nullptr) *left = lines;
  return status;
}

TEST_F(LineFileTest, AppendsToWhatThereIs) {
  EXPECT_TRUE(Append(*Open(), "one\n").ok());
  absl::string_view left = "?";
  EXPECT_TRUE(Append(*Open(), "two\nthree\n", &left).ok());
  EXPECT_EQ(left, "");
  EXPECT_EQ(Read(), "one\ntwo\nthree\n");
}

TEST_F(LineFileTest, IsForTheOwnerAndItsGroup) {
  Open();
  struct stat found;
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0137, 0u);
}

TEST_F(LineFileTest, CutsOffTheEndThatIsNoWholeLine) {
  for (const size_t length : {0, 1, 4, 4096, 9001}) {
    std::string whole(length, 'x');
    if (length > 0) whole.back() = '\n';
    for (const size_t torn : {0, 1, 4095, 4096, 4097, 10000}) {
      Put(whole + std::string(torn, 't'));
      EXPECT_TRUE(Append(*Open(), "next\n").ok());
      EXPECT_EQ(Read(), whole + "next\n");
    }
  }
}

TEST_F(LineFileTest, LeavesAloneWhatIsNoFileOfLines) {
  const std::string text(3 << 20, 'x');
  Put(text);
  EXPECT_TRUE(absl::IsFailedPrecondition(LineFile::Open(path_).status()));
  EXPECT_EQ(Read(), text);
}

TEST_F(LineFileTest, IsForOneAtATime) {
  auto first = Open();
  const absl::Status status = LineFile::Open(path_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), StartsWith(path_ + ": another process"));
  first.reset();
  Open();
}

TEST_F(LineFileTest, SaysWhichFileCannotBeOpened) {
  const absl::Status status = LineFile::Open(directory_.path() + "/no/file").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), StartsWith(directory_.path() + "/no/file"));
}

TEST_F(LineFileTest, KeepsWholeLinesOnlyWhenTheDiskIsFull) {
  const auto file = Open();
  EXPECT_TRUE(Append(*file, "first\n").ok());
  absl::string_view left;
  {
    const testing::FileSizeLimit limit(13);
    EXPECT_FALSE(Append(*file, "second\nthird\n", &left).ok());
  }
  EXPECT_EQ(left, "third\n");
  EXPECT_EQ(Read(), "first\nsecond\n");
  {
    const testing::FileSizeLimit limit(16);
    EXPECT_FALSE(Append(*file, left, &left).ok());
    EXPECT_EQ(left, "third\n") << "three bytes of it were written and taken back";
    EXPECT_EQ(Read(), "first\nsecond\n");
  }
  EXPECT_TRUE(Append(*file, left, &left).ok());
  EXPECT_EQ(Read(), "first\nsecond\nthird\n");
}

TEST_F(LineFileTest, GoesOnInANewFileWhenTheOldOneIsMovedAway) {
  const auto file = Open();
  EXPECT_TRUE(Append(*file, "one\n").ok());
  EXPECT_TRUE(file->FollowPath().ok());
  EXPECT_TRUE(Append(*file, "two\n").ok());
  ASSERT_EQ(std::rename(path_.c_str(), (path_ + ".1").c_str()), 0);
  EXPECT_TRUE(file->FollowPath().ok());
  EXPECT_TRUE(Append(*file, "three\n").ok());
  EXPECT_EQ(Read(path_ + ".1"), "one\ntwo\n");
  EXPECT_EQ(Read(), "three\n");
}

TEST_F(LineFileTest, FollowsToAFileThatTookItsPlace) {
  const auto file = Open();
  ASSERT_EQ(std::rename(path_.c_str(), (path_ + ".1").c_str()), 0);
  Put("there\ntorn");
  EXPECT_TRUE(file->FollowPath().ok());
  EXPECT_TRUE(Append(*file, "one\n").ok());
  EXPECT_EQ(Read(), "there\none\n");
}

TEST_F(LineFileTest, StaysInTheOldFileWhileThereCanBeNoNewOne) {
  const auto file = Open();
  ASSERT_EQ(std::rename(path_.c_str(), (path_ + ".1").c_str()), 0);
  ASSERT_EQ(::mkdir(path_.c_str(), 0700), 0);
  EXPECT_FALSE(file->FollowPath().ok());
  EXPECT_TRUE(Append(*file, "one\n").ok());
  EXPECT_EQ(Read(path_ + ".1"), "one\n");
}

TEST_F(LineFileTest, ReportsAFullDevice) {
  auto file = LineFile::Open("/dev/full");
  ASSERT_TRUE(file.ok()) << file.status();
  absl::string_view left;
  EXPECT_TRUE(absl::IsResourceExhausted(Append(**file, "one\n", &left)));
  EXPECT_EQ(left, "one\n");
  EXPECT_TRUE((*file)->Sync().ok());
}

TEST_F(LineFileTest, HasTheDiskConfirm) {
  const auto file = Open();
  EXPECT_TRUE(Append(*file, "one\n").ok());
  EXPECT_TRUE(file->Sync().ok());
}

}  // namespace
}  // namespace sluice
