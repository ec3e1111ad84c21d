#include "lib/admission/client_keys.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::admission {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What sha256sum prints for "alice-key"; and of some other key.
constexpr char kAlice[] = "72ee9d4355ccb9d3a4c9dbf37382e38e75c1b1a225b5bd1f729ee91bbda30c20";
constexpr char kOther[] = "1111111111111111111111111111111111111111111111111111111111111111";

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);  // 2027-01-15T08:00:00Z

std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<ClientKeys> keys = ClientKeys::Parse(text);
  EXPECT_TRUE(absl::IsInvalidArgument(keys.status())) << text;
  return std::string(keys.status().message());
}

std::string PrincipalOf(const ClientKeys& keys, absl::string_view key, absl::Time now = kNow) {
  const std::string* principal = keys.Find(key, now);
  return principal == nullptr ? "nobody" : *principal;
}

TEST(ClientKeysTest, KnowsTheBearerOfAKeyByItsHash) {
  const ClientKeys keys = *ClientKeys::Parse(
      absl::StrCat("# who may call\n\n  alice \t ", kAlice, "\r\nbob ", kOther, "\n"));
  EXPECT_EQ(PrincipalOf(keys, "alice-key"), "alice");
  EXPECT_EQ(PrincipalOf(keys, "alice-kex"), "nobody");
  EXPECT_EQ(PrincipalOf(keys, "alice-key "), "nobody");
  EXPECT_EQ(PrincipalOf(keys, ""), "nobody");
  EXPECT_EQ(PrincipalOf(keys, kAlice), "nobody") << "what is in the file lets nobody in";
  EXPECT_EQ(keys.size(), 2u);
}

TEST(ClientKeysTest, TakesAHashInEitherCaseAndSeveralKeysOfOnePrincipal) {
  const ClientKeys keys =
      *ClientKeys::Parse(absl::StrCat("alice ", kOther, "\nalice ", absl::AsciiStrToUpper(kAlice)));
  EXPECT_EQ(PrincipalOf(keys, "alice-key"), "alice");
}

TEST(ClientKeysTest, EveryDigitOfTheHashCounts) {
  for (size_t i = 0; i < 64; ++i) {
    std::string hash = kAlice;
    hash[i] = hash[i] == '0' ? '1' : '0';
    EXPECT_EQ(PrincipalOf(*ClientKeys::Parse("alice " + hash), "alice-key"), "nobody") << i;
  }
}

TEST(ClientKeysTest, KeyEndsAtItsExpiry) {
  const ClientKeys keys =
      *ClientKeys::Parse(absl::StrCat("alice ", kAlice, " 2027-01-15T09:00:00+01:00"));
  EXPECT_EQ(PrincipalOf(keys, "alice-key", kNow - absl::Nanoseconds(1)), "alice");
  EXPECT_EQ(PrincipalOf(keys, "alice-key", kNow), "nobody");
}

TEST(ClientKeysTest, ListsEveryWrongLineWithoutItsText) {
  const std::string error = ErrorOf(absl::StrCat(
      "alice\n", "alice ", kOther, " 2027-01-31T00:00:00Z more\n", "* ", kOther, "\n", "n\xc3\xa9 ",
      kOther, "\n", std::string(129, 'n'), " ", kOther, "\n", "eve secret-key\n", "eve ",
      std::string(64, 'g'), "\n", "bob ", kOther, "\n", "eve ", kOther, "\n", "eve ", kAlice,
      " secret-time\n", "eve ", kAlice, " infinite-future\n", "eve ", kAlice, " 2027-01-31\n"));
  for (const char* part :
       {"line 1: is not PRINCIPAL SHA256HEX", "line 2: is not PRINCIPAL SHA256HEX",
        "line 3: begins with no principal", "line 4: begins with no principal",
        "line 5: begins with no principal", "line 6: has no SHA-256", "line 7: has no SHA-256",
        "line 9: has the key of a line before", "line 10: ends with no time",
        "line 11: ends with no time", "line 12: ends with no time"}) {
    EXPECT_THAT(error, HasSubstr(part));
  }
  EXPECT_THAT(error, Not(HasSubstr("line 8")));
  for (const char* text : {"secret", "eve", "alice", "1111", "gggg", "nnnn"}) {
    EXPECT_THAT(error, Not(HasSubstr(text)));
  }
}

TEST(ClientKeysTest, ListsTwentyWrongLinesAtMost) {
  std::string text;
  for (int i = 0; i < 30; ++i) absl::StrAppend(&text, "wrong\n");
  const std::string error = ErrorOf(text);
  EXPECT_THAT(error, HasSubstr("line 20: "));
  EXPECT_THAT(error, HasSubstr("; and more"));
  EXPECT_THAT(error, Not(HasSubstr("line 21: ")));
}

TEST(ClientKeysTest, FileWithoutAKeyIsWrong) {
  EXPECT_EQ(ErrorOf("# nobody yet\n"), "holds no key");
}

std::string Credential(const std::vector<std::pair<std::string, std::string>>& fields) {
  HeaderList headers;
  for (const auto& [name, value] : fields) headers.Add(name, value);
  return std::string(CredentialOf(headers).value_or("none"));
}

TEST(CredentialTest, IsInAnyOfThreeFields) {
  EXPECT_EQ(Credential({{"Host", "x"}, {"authorization", "Bearer k-1"}}), "k-1");
  EXPECT_EQ(Credential({{"Authorization", "bearer  k-1"}}), "k-1");
  EXPECT_EQ(Credential({{"X-Api-Key", "k-2"}}), "k-2");
  EXPECT_EQ(Credential({{"api-key", "k-3"}}), "k-3");
}

TEST(CredentialTest, IsNoneWithoutOne) {
  EXPECT_EQ(Credential({}), "none");
  EXPECT_EQ(Credential({{"Authorization", "Basic azE6"}}), "none");
  EXPECT_EQ(Credential({{"Authorization", "Bearer "}, {"x-api-key", ""}}), "none");
  EXPECT_EQ(Credential({{"Authorization", "Bearerk-1"}}), "none");
  EXPECT_EQ(Credential({{"Authorization", "k-1"}}), "none");
}

TEST(CredentialTest, IsNoneWhenFieldsDiffer) {
  EXPECT_EQ(Credential({{"Authorization", "Bearer k-1"}, {"x-api-key", "k-2"}}), "none");
  EXPECT_EQ(Credential({{"x-api-key", "k-1"}, {"x-api-key", "k-2"}}), "none");
  EXPECT_EQ(Credential({{"x-api-key", "k-1"}, {"api-key", "k-2"}, {"x-api-key", "k-1"}}), "none");
}

TEST(CredentialTest, MayBeInSeveralFields) {
  EXPECT_EQ(Credential({{"Authorization", "Bearer k-1"}, {"x-api-key", "k-1"}, {"api-key", ""}}),
            "k-1");
  EXPECT_EQ(Credential({{"Authorization", "Basic azE6"}, {"x-api-key", "k-1"}}), "k-1")
      << "another scheme is no key";
}

}  // namespace
}  // namespace sluice::admission
