#include <string>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"

#include "lib/base/ids.h"
#include "tests/server/control_fixture.h"

namespace sluice::server {
namespace {

/// Calls a method that has no stub here. Returns the bytes of the answer.
std::string Call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice empty;
  const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&empty, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag;
  bool ok;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  EXPECT_TRUE(status.ok()) << status.error_message();
  grpc::Slice slice;
  EXPECT_TRUE(answer.DumpToSingleSlice(&slice).ok());
  return std::string(slice.begin(), slice.end());
}

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
  EXPECT_EQ(Call(channel_, "/grpc.health.v1.Health/Check"), "\x08\x01");  // status: SERVING
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
