#include "server/roles.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace sluice::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// What sha256sum prints for "alice-token"; and of some other token.
constexpr char kAlice[] = "9c220f200955d76c0a38d308225e0ef10c5f971acaf2f8d1d8f732affa5bd1dc";
constexpr char kBob[] = "1111111111111111111111111111111111111111111111111111111111111111";

std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<Roles> roles = Roles::Parse(text);
  EXPECT_TRUE(absl::IsInvalidArgument(roles.status())) << text;
  return std::string(roles.status().message());
}

TEST(RolesTest, KnowsTheBearerOfATokenByItsHash) {
  const Roles roles = *Roles::Parse(absl::StrCat("# who may call\n\n  operator \t alice ", kAlice,
                                                 "\r\nviewer bob ", kBob, "\n"));
  const Roles::Entry* alice = roles.FindToken("alice-token");
  ASSERT_NE(alice, nullptr);
  EXPECT_EQ(alice->name, "alice");
  EXPECT_EQ(alice->role, Role::kOperator);
  EXPECT_EQ(roles.FindToken("alice-tokem"), nullptr);
  EXPECT_EQ(roles.FindToken("alice-token "), nullptr);
  EXPECT_EQ(roles.FindToken(""), nullptr);
  EXPECT_EQ(roles.FindToken(kAlice), nullptr) << "what is in the file lets nobody in";
}

TEST(RolesTest, TakesAHashInEitherCaseAndSeveralTokensOfOneName) {
  const Roles roles = *Roles::Parse(
      absl::StrCat("viewer alice ", kBob, "\ntailer alice ", absl::AsciiStrToUpper(kAlice)));
  ASSERT_NE(roles.FindToken("alice-token"), nullptr);
  EXPECT_EQ(roles.FindToken("alice-token")->role, Role::kTailer);
}

TEST(RolesTest, KnowsACertificateByAnyOfItsNames) {
  const Roles roles = *Roles::Parse(
      absl::StrCat("operator alice ", kAlice, "\ntailer carol\nviewer spiffe://x/dave\n"));
  EXPECT_EQ(roles.FindCertificate({"carol"})->role, Role::kTailer);
  EXPECT_EQ(roles.FindCertificate({"nobody", "spiffe://x/dave"})->name, "spiffe://x/dave");
  EXPECT_EQ(roles.FindCertificate({"caro", "carolx", ""}), nullptr);
  EXPECT_EQ(roles.FindCertificate({"alice"}), nullptr) << "that name is for a token's bearer";
}

TEST(RolesTest, SaysWhetherItHasTokens) {
  EXPECT_FALSE(Roles::Parse("viewer carol")->has_tokens());
  EXPECT_TRUE(Roles::Parse(absl::StrCat("viewer bob ", kBob))->has_tokens());
}

TEST(RolesTest, ListsEveryWrongLineWithoutItsText) {
  const std::string error = ErrorOf(absl::StrCat(
      "viewer\n", "viewer bob ", kBob, " more\n", "admin bob ", kBob, "\n", "viewer n\xc3\xa9 ",
      kBob, "\n", "viewer ", std::string(129, 'n'), "\n", "viewer eve secret-token\n",
      "viewer eve ", std::string(64, 'g'), "\n", "viewer bob ", kBob, "\n", "viewer eve ", kBob,
      "\n", "viewer carol\n", "operator carol\n"));
  for (const char* part :
       {"line 1: is not ROLE NAME", "line 2: is not ROLE NAME", "line 3: begins with no role",
        "line 4: has a name", "line 5: has a name", "line 6: ends with no SHA-256",
        "line 7: ends with no SHA-256", "line 9: has the token of a line before",
        "line 11: gives the certificate of a line before"}) {
    EXPECT_THAT(error, HasSubstr(part));
  }
  EXPECT_THAT(error, AllOf(Not(HasSubstr("line 8")), Not(HasSubstr("line 10"))));
  EXPECT_THAT(error, Not(HasSubstr("secret-token")));
}

TEST(RolesTest, ListsAtMostTwentyLines) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "wrong\n";
  EXPECT_THAT(ErrorOf(text),
              AllOf(HasSubstr("line 20:"), Not(HasSubstr("line 21:")), HasSubstr("and more")));
}

TEST(RolesTest, RefusesAFileThatNamesNobody) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("names nobody"));
  EXPECT_THAT(ErrorOf("# viewer bob\n\n"), HasSubstr("names nobody"));
}

class RolesFileTest : public ::testing::Test {
 protected:
  RolesFileTest() {
    SetLogSink([this](absl::string_view line) { lines_.emplace_back(line); });
  }
  ~RolesFileTest() override { SetLogSink({}); }

  void Write(absl::string_view text) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), 0640);
  }
  /// Whose certificate the file in force knows.
  bool Knows(const std::string& name) {
    return file_->Current()->FindCertificate({name}) != nullptr;
  }
  void Open() {
    auto file = RolesFile::Open(clock_, path_);
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
  }

  testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/roles";
  testing::FakeClock clock_;
  std::unique_ptr<RolesFile> file_;
  std::vector<std::string> lines_;
};

TEST_F(RolesFileTest, TakesAChangeASecondLater) {
  Write("viewer carol\n");
  Open();
  Write("viewer carol\nviewer dave\n");
  EXPECT_FALSE(Knows("dave")) << "not looked at again yet";
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Knows("dave"));
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("the roles file has changed")));
}

TEST_F(RolesFileTest, TakesAFileThatWasPutInItsPlace) {
  Write("viewer carol\n");
  Open();
  std::ofstream(path_ + ".new") << "viewer david\n";
  std::rename((path_ + ".new").c_str(), path_.c_str());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Knows("david"));
  EXPECT_FALSE(Knows("carol"));
}

TEST_F(RolesFileTest, KeepsWhatItHadWhenTheNewTextIsWrongAndSaysSoOnce) {
  Write("viewer carol\n");
  Open();
  Write("viewer carol\nviewer\n");
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(std::chrono::seconds(1));
    EXPECT_TRUE(Knows("carol"));
  }
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("ERROR"), HasSubstr("line 2"))));
  Write("viewer dave\n");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Knows("dave"));
}

TEST_F(RolesFileTest, KeepsWhatItHadWhenTheFileIsGone) {
  Write("viewer carol\n");
  Open();
  std::remove(path_.c_str());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Knows("carol"));
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("ERROR"), HasSubstr(path_))));
}

TEST_F(RolesFileTest, RefusesAFileThatIsMissingOrWrongOrAnybodysToWrite) {
  EXPECT_TRUE(absl::IsNotFound(RolesFile::Open(clock_, path_).status()));
  Write("viewer\n");
  EXPECT_THAT(std::string(RolesFile::Open(clock_, path_).status().message()),
              AllOf(HasSubstr(path_), HasSubstr("line 1")));
  Write("viewer carol\n");
  ::chmod(path_.c_str(), 0602);
  EXPECT_THAT(std::string(RolesFile::Open(clock_, path_).status().message()),
              AllOf(HasSubstr(path_), HasSubstr("o-w")));
}

}  // namespace
}  // namespace sluice::server
