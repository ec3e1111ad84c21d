#include "gmock/gmock.h"

#include "tests/admin/sluicectl_test.h"

namespace sluice::admin {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST_F(SluicectlTest, TokenNewPrintsATokenAndTheLineThatLetsItIn) {
  EXPECT_EQ(Run({"token", "new", "alice", "--role", "operator"}), ExitCode::kOk);
  EXPECT_THAT(out(), MatchesRegex("token  sluice_[-_A-Za-z0-9]{43}\n"
                                  "line   operator alice [0-9a-f]{64}\n"));
  const std::string first = out();
  out_.str("");
  EXPECT_EQ(Run({"token", "new", "alice", "--role", "operator"}), ExitCode::kOk);
  EXPECT_NE(out(), first);
}

TEST_F(SluicectlTest, TokenNewMakesAViewerUnlessToldOtherwise) {
  EXPECT_EQ(Run({"token", "new", "alice", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), MatchesRegex("\\{\"token\":\"sluice_[-_A-Za-z0-9]{43}\","
                                  "\"line\":\"viewer alice [0-9a-f]{64}\"\\}\n"));
}

TEST_F(SluicectlTest, TokenNewRefusesWhatARolesFileCannotHold) {
  for (const std::string& name : {std::string("two words"), std::string(), std::string("a\n"),
                                  std::string("\xc3\xa9"), std::string(129, 'n')}) {
    EXPECT_EQ(Run({"token", "new", name}), ExitCode::kUsage) << name;
  }
  EXPECT_EQ(Run({"token", "new", "alice", "--role", "king"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("--role: not one of viewer, tailer, operator: king"));
  EXPECT_EQ(out(), "");
}

TEST_F(SluicectlTest, TokenNewNeedsNoToken) {
  variables_["SLUICE_TOKEN_FILE"] = "/nowhere";
  EXPECT_EQ(Run({"token", "new", "alice"}), ExitCode::kOk);
  EXPECT_EQ(Run({"status"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("--token-file: cannot read /nowhere"));
}

TEST_F(SluicectlTest, UnauthenticatedSaysHowToGiveAToken) {
  server_.update_result = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "who is it");
  in_.str("{}");
  EXPECT_EQ(Run({"config", "apply", "-"}), ExitCode::kError);
  EXPECT_THAT(err(), HasSubstr("who is it"));
  EXPECT_THAT(err(), HasSubstr("--token-file or SLUICE_TOKEN"));
}

}  // namespace
}  // namespace sluice::admin
