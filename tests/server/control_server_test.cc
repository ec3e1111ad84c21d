#include <string>

#include "lib/base/ids.h"
#include "tests/server/control_fixture.h"
#include "tests/server/generic_call.h"

namespace sluice::server {
namespace {

TEST_F(ControlServerTest, ReportsItsState) {
  Start({.version = "1.2.3"}, 100);
  Publish(150);
  const pb::ServerStatus status = GetServerStatus();
  EXPECT_EQ(status.version(), "1.2.3");
  EXPECT_GT(status.start_time().seconds(), 0);
  EXPECT_EQ(status.boot_id().size(), 16u);
  EXPECT_EQ(status.in_flight(), 3);
  EXPECT_EQ(status.accepted(), 10);
  EXPECT_EQ(status.ring().capacity(), 100);
  EXPECT_EQ(status.ring().size(), 100);
  EXPECT_EQ(status.ring().published(), 150);
  EXPECT_EQ(status.watchers(), 0);
  EXPECT_EQ(status.config_etag(), store_.Current()->etag());
  EXPECT_EQ(status.config_generation(), 0);
}

TEST_F(ControlServerTest, AnswersHealthChecks) {
  Start();
  EXPECT_EQ(sluice::testing::HealthOf(channel_), 1);
}

TEST_F(ControlServerTest, ServesOnAUnixSocket) {
  const std::string path = ::testing::TempDir() + "sluice-control-test.sock";
  Start({.address = "unix:" + path});
  EXPECT_EQ(GetConfig().name(), "config");
}

TEST_F(ControlServerTest, RefusesAPortThatIsTaken) {
  Start();
  ControlServer::Options options;
  options.address = absl::StrCat("127.0.0.1:", server_->port());
  EXPECT_EQ(ControlServer::Start(options, deps()).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ControlServerTest, RefusesAnAddressThatIsNone) {
  Start();
  ControlServer::Options options;
  options.address = "unix:/nowhere/control.sock";
  EXPECT_EQ(ControlServer::Start(options, deps()).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ControlServerTest, ShutsDownMoreThanOnce) {
  Start();
  server_->Shutdown(std::chrono::seconds(1));
  server_->Shutdown(std::chrono::seconds(1));
  server_ = nullptr;
}

}  // namespace
}  // namespace sluice::server
