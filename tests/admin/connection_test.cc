#include "admin/connection.h"

#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/temp_dir.h"

namespace sluice::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Texts = std::map<std::string, std::string, std::less<>>;

class ConnectionTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, absl::string_view text) {
    const std::string path = absl::StrCat(directory_.path(), "/", name);
    std::ofstream(path) << text;
    return path;
  }
  absl::StatusOr<Connection> Make(Texts flags, const Texts& variables = {}) {
    flags.emplace("server", "127.0.0.1:9090");
    Invocation invocation;
    invocation.flags = std::move(flags);
    return MakeConnection(invocation, [&](absl::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  }
  std::string ErrorOf(const Texts& flags, const Texts& variables = {}) {
    const absl::Status status = Make(flags, variables).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  testing::TempDirectory directory_;
  const std::string ca_ = Write("ca", "CA");
  const std::string token_ = Write("token", " word\n");
};

TEST_F(ConnectionTest, IsPlainAndNamelessByDefault) {
  const Connection connection = *Make({});
  EXPECT_EQ(connection.server, "127.0.0.1:9090");
  EXPECT_FALSE(connection.tls);
  EXPECT_TRUE(connection.token.empty());
}

TEST_F(ConnectionTest, TakesTheTokenOfTheFileBeforeThatOfTheEnvironment) {
  EXPECT_EQ(Make({{"token-file", token_}}, {{"SLUICE_TOKEN", "other"}})->token.Reveal(), "word");
  EXPECT_EQ(Make({}, {{"SLUICE_TOKEN", "other"}})->token.Reveal(), "other");
}

TEST_F(ConnectionTest, SendsNoTokenToAnotherHostInClear) {
  for (const char* server : {"10.0.0.1:9090", "gateway.example:9090", "localhost.example:9090"}) {
    EXPECT_THAT(ErrorOf({{"server", server}, {"token-file", token_}}),
                AllOf(HasSubstr(server), HasSubstr("--tls-ca"), Not(HasSubstr("word"))));
    EXPECT_TRUE(Make({{"server", server}, {"token-file", token_}, {"tls-ca", ca_}}).ok());
    EXPECT_TRUE(Make({{"server", server}}).ok());
  }
  for (const char* server : {"127.0.0.1:1", "unix:/run/s.sock", "localhost:9090"}) {
    EXPECT_TRUE(Make({{"server", server}, {"token-file", token_}}).ok());
  }
}

TEST_F(ConnectionTest, ReadsTheFilesOfTls) {
  const Connection connection = *Make({{"tls-ca", ca_},
                                       {"tls-cert", Write("cert", "CERT")},
                                       {"tls-key", Write("key", "KEY")},
                                       {"tls-server-name", "gateway"}});
  EXPECT_TRUE(connection.tls);
  EXPECT_EQ(connection.authorities, "CA");
  EXPECT_EQ(connection.certificate, "CERT");
  EXPECT_EQ(connection.key, "KEY");
  EXPECT_EQ(connection.server_name, "gateway");
}

TEST_F(ConnectionTest, LeavesTheAuthoritiesToTheSystem) {
  const Connection connection = *Make({{"tls-ca", "system"}});
  EXPECT_TRUE(connection.tls);
  EXPECT_EQ(connection.authorities, "");
}

TEST_F(ConnectionTest, RefusesWhatContradictsItself) {
  EXPECT_THAT(ErrorOf({{"tls-ca", ca_}, {"tls-cert", ca_}}), HasSubstr("go together"));
  EXPECT_THAT(ErrorOf({{"tls-ca", ca_}, {"tls-key", ca_}}), HasSubstr("go together"));
  EXPECT_THAT(ErrorOf({{"tls-cert", ca_}, {"tls-key", ca_}}), HasSubstr("need --tls-ca"));
  EXPECT_THAT(ErrorOf({{"tls-server-name", "gateway"}}), HasSubstr("need --tls-ca"));
}

TEST_F(ConnectionTest, RefusesFilesAndTokensThatCannotBeUsed) {
  EXPECT_THAT(ErrorOf({{"token-file", "/nowhere"}}),
              AllOf(HasSubstr("--token-file"), HasSubstr("/nowhere"), HasSubstr("No such file")));
  EXPECT_THAT(ErrorOf({{"tls-ca", "/nowhere"}}), HasSubstr("--tls-ca"));
  EXPECT_THAT(ErrorOf({{"token-file", Write("empty", "")}}), HasSubstr("it is empty"));
  for (const char* token : {"two words", "a\nb", "\x01"}) {
    EXPECT_THAT(ErrorOf({}, {{"SLUICE_TOKEN", token}}), HasSubstr("is no token"));
  }
}

}  // namespace
}  // namespace sluice::admin
