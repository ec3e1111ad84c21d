#include "server/audit.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace sluice::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const Caller kAlice{"alice", Role::kTailer, "ipv4:10.0.0.1:5"};

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    SetLogSink([this](absl::string_view line) { lines_.emplace_back(line); });
  }
  ~AuditTest() override { SetLogSink({}); }

  std::unique_ptr<AuditLog> Open(const std::string& path) {
    auto log = AuditLog::Open(clock_, path);
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/audit";
  testing::FakeClock clock_;
  std::vector<std::string> lines_;
};

TEST_F(AuditTest, WritesWhoDidWhatToTheLogAndAsJsonToItsFile) {
  Open(path_)->Write(kAlice, "tail exchange", {{"exchange", "x1"}, {"outcome", "OK"}});
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("INFO audit who=alice role=tailer from=ipv4:10.0.0.1:5 "
                                            "action=\"tail exchange\" exchange=x1 outcome=OK")));
  EXPECT_THAT(Read(path_), AllOf(StartsWith("{\"time\":\""),
                                 ::testing::EndsWith(
                                     "\"message\":\"audit\",\"who\":\"alice\",\"role\":\"tailer\","
                                     "\"from\":\"ipv4:10.0.0.1:5\",\"action\":\"tail exchange\","
                                     "\"exchange\":\"x1\",\"outcome\":\"OK\"}\n")));
}

TEST_F(AuditTest, NeedsNoFile) {
  Open("")->Write(kAlice, "tail exchange", {});
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(AuditTest, AppendsToTheFileThereIs) {
  Open(path_)->Write(kAlice, "one", {});
  Open(path_)->Write(kAlice, "two", {});
  EXPECT_THAT(Read(path_), AllOf(HasSubstr("\"one\""), HasSubstr("\"two\"")));
}

TEST_F(AuditTest, GoesOnInANewFileWhenTheOldOneIsMovedAway) {
  const auto log = Open(path_);
  log->Write(kAlice, "one", {});
  std::rename(path_.c_str(), (path_ + ".1").c_str());
  log->Write(kAlice, "two", {});
  log->Write(kAlice, "three", {});
  EXPECT_THAT(Read(path_ + ".1"), AllOf(HasSubstr("\"one\""), Not(HasSubstr("\"two\""))));
  EXPECT_THAT(Read(path_), AllOf(HasSubstr("\"two\""), HasSubstr("\"three\"")));
}

TEST_F(AuditTest, RefusesAFileThatCannotBeOpened) {
  const absl::Status status = AuditLog::Open(clock_, directory_.path()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_.path()));
}

TEST_F(AuditTest, SaysSoWhenALineCannotBeWritten) {
  Open("/dev/full")->Write(kAlice, "one", {});
  EXPECT_THAT(lines_,
              ElementsAre(HasSubstr("audit"), AllOf(HasSubstr("ERROR"), HasSubstr("/dev/full"))));
}

TEST_F(AuditTest, HasWholeLinesOnlyThoughTheDiskWasFull) {
  const auto log = Open(path_);
  log->Write(kAlice, "one", {});
  const std::string before = Read(path_);
  {
    const testing::FileSizeLimit limit(before.size() + 10);
    log->Write(kAlice, "two", {});
  }
  EXPECT_EQ(Read(path_), before);
  log->Write(kAlice, "three", {});
  EXPECT_EQ(Read(path_).substr(before.size(), 9), "{\"time\":\"");
}

TEST_F(AuditTest, WritesARefusalWithItsReason) {
  Open("")->WriteRefusal({"", Role::kViewer, "ipv4:10.0.0.1:5"}, "GetConfig",
                         grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no token"));
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(
                          "audit who=\"\" role=\"\" from=ipv4:10.0.0.1:5 action=GetConfig "
                          "outcome=UNAUTHENTICATED error=\"no token\"")));
}

TEST_F(AuditTest, IsNotFloodedByRefusalsAndCountsThem) {
  const auto log = Open("");
  const auto refuse = [&log] {
    log->WriteRefusal(kAlice, "GetConfig", grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no"));
  };
  for (int i = 0; i < 1000; ++i) refuse();
  EXPECT_EQ(lines_.size(), 10u);
  EXPECT_THAT(lines_, ::testing::Each(Not(HasSubstr("left_out"))));
  log->Write(kAlice, "one", {});
  log->WriteRefusal({"", Role::kViewer, "peer"}, "GetConfig",
                    grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no"));
  EXPECT_EQ(lines_.size(), 12u) << "what was done, or by others, is written all the same";
  lines_.clear();
  clock_.Advance(std::chrono::seconds(1));
  refuse();
  refuse();
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("refusals_left_out=990"), Not(HasSubstr("left_out"))));
}

}  // namespace
}  // namespace sluice::server
