#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/admission/client_keys.h"
#include "lib/base/log.h"
#include "tests/support/temp_dir.h"

namespace sluice::admission {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// What sha256sum prints for "alice-key" and "bob-key".
constexpr char kAlice[] = "72ee9d4355ccb9d3a4c9dbf37382e38e75c1b1a225b5bd1f729ee91bbda30c20";
constexpr char kBob[] = "9b94dc1a51a38769f135edf04033ad7f2f487b6c25929be7a861cfc1ab10cf98";

class ClientKeysFileTest : public ::testing::Test {
 protected:
  ClientKeysFileTest() {
    SetLogSink([this](absl::string_view line) { logged_.emplace_back(line); });
    Write(absl::StrCat("alice ", kAlice));
  }
  ~ClientKeysFileTest() override { SetLogSink(nullptr); }

  /// Puts a new file in the place of the old one, as one should: another inode, whatever the time.
  void Write(const std::string& text) {
    const std::string unfinished = path_ + ".new";
    std::ofstream(unfinished) << text;
    std::filesystem::rename(unfinished, path_);
  }
  absl::Status OpenStatus() { return ClientKeysFile::Open(path_).status(); }

  static std::string PrincipalOf(const ClientKeysFile& file, absl::string_view key) {
    const std::shared_ptr<const ClientKeys> keys = file.Current();
    const std::string* principal = keys->Find(key, absl::UnixEpoch());
    return principal == nullptr ? "nobody" : *principal;
  }

  const testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/keys";
  std::vector<std::string> logged_;
};

TEST_F(ClientKeysFileTest, ChangeHoldsAfterReload) {
  const auto file = *ClientKeysFile::Open(path_);
  EXPECT_EQ(PrincipalOf(*file, "alice-key"), "alice");
  Write(absl::StrCat("bob ", kBob));
  EXPECT_EQ(PrincipalOf(*file, "alice-key"), "alice") << "Current looks at no disk";
  const std::shared_ptr<const ClientKeys> before = file->Current();
  file->Reload();
  EXPECT_EQ(PrincipalOf(*file, "alice-key"), "nobody");
  EXPECT_EQ(PrincipalOf(*file, "bob-key"), "bob");
  EXPECT_NE(before->Find("alice-key", absl::UnixEpoch()), nullptr) << "what is in use stays whole";
  EXPECT_THAT(logged_, ElementsAre(AllOf(HasSubstr("has changed"), HasSubstr("keys=1"))));
}

TEST_F(ClientKeysFileTest, DoesNotReadAFileThatIsTheSame) {
  const auto file = *ClientKeysFile::Open(path_);
  const std::shared_ptr<const ClientKeys> before = file->Current();
  file->Reload();
  EXPECT_EQ(file->Current(), before);
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(ClientKeysFileTest, WrongOrVanishedFileChangesNothingAndIsLoggedOnce) {
  const auto file = *ClientKeysFile::Open(path_);
  Write("alice secret-key");
  for (int i = 0; i < 3; ++i) file->Reload();
  EXPECT_THAT(logged_, ElementsAre(AllOf(HasSubstr("cannot be used"), HasSubstr(path_),
                                         HasSubstr("line 1"), Not(HasSubstr("secret")))));
  std::filesystem::remove(path_);
  for (int i = 0; i < 3; ++i) file->Reload();
  EXPECT_EQ(logged_.size(), 2u);
  EXPECT_EQ(PrincipalOf(*file, "alice-key"), "alice");
  Write(absl::StrCat("bob ", kBob));
  file->Reload();
  EXPECT_EQ(PrincipalOf(*file, "bob-key"), "bob");
}

TEST_F(ClientKeysFileTest, RefusesAFileThatAnybodyMayWrite) {
  const auto file = *ClientKeysFile::Open(path_);
  Write(absl::StrCat("bob ", kBob));
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  file->Reload();
  EXPECT_EQ(PrincipalOf(*file, "bob-key"), "nobody");
  EXPECT_THAT(std::string(OpenStatus().message()),
              AllOf(StartsWith(path_), HasSubstr("anybody on this host may write it")));
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  file->Reload();
  EXPECT_EQ(PrincipalOf(*file, "bob-key"), "bob") << "the mode alone is a change";
}

TEST_F(ClientKeysFileTest, OpensOnlyARegularFileThatIsRight) {
  Write("alice secret-key");
  EXPECT_TRUE(absl::IsInvalidArgument(OpenStatus()));
  EXPECT_THAT(std::string(OpenStatus().message()), StartsWith(path_));
  std::filesystem::remove(path_);
  EXPECT_TRUE(absl::IsNotFound(OpenStatus()));
  EXPECT_THAT(std::string(OpenStatus().message()), StartsWith(path_));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(std::string(OpenStatus().message()), HasSubstr("no regular file"));
}

}  // namespace
}  // namespace sluice::admission
