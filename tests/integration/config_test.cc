// The configuration changed while streams run, in a gateway whole.

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/error.pb.h"
#include "tests/integration/gateway_fixture.h"
#include "tests/integration/steady_clients.h"
#include "tests/support/chat_events.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;

class ConfigTest : public GatewayFixture {
 protected:
  void SetUp() override {
    StartBoth();
    stub_ = pb::ControlService::NewStub(grpc::CreateChannel(
        absl::StrCat("127.0.0.1:", gateway_->control_port()), grpc::InsecureChannelCredentials()));
  }

  pb::Config GetConfig() {
    grpc::ClientContext context;
    pb::Config config;
    const grpc::Status status = stub_->GetConfig(&context, {}, &config);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return config;
  }

  grpc::Status Update(const pb::Config& config, pb::Config* updated) {
    pb::UpdateConfigRequest request;
    *request.mutable_config() = config;
    grpc::ClientContext context;
    return stub_->UpdateConfig(&context, request, updated);
  }

  std::unique_ptr<pb::ControlService::Stub> stub_;
};

TEST_F(ConfigTest, LetsExactlyOneOfTwoWritersWinAnEtag) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const pb::Config read = GetConfig();
    grpc::Status statuses[2];
    pb::Config updated[2];
    std::vector<std::thread> writers;
    for (int i = 0; i < 2; ++i) {
      writers.emplace_back([&, i] {
        pb::Config mine = read;
        mine.mutable_limits()->set_max_in_flight(1000 + 2 * round + i);
        statuses[i] = Update(mine, &updated[i]);
      });
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_NE(statuses[0].ok(), statuses[1].ok());
    const int winner = statuses[0].ok() ? 0 : 1;
    const grpc::Status& lost = statuses[1 - winner];
    const pb::Config current = GetConfig();
    EXPECT_EQ(current.SerializeAsString(), updated[winner].SerializeAsString());
    EXPECT_EQ(current.generation(), read.generation() + 1);
    EXPECT_EQ(lost.error_code(), grpc::StatusCode::ABORTED);
    pb::StatusDetails details;
    pb::ErrorDetail detail;
    ASSERT_TRUE(details.ParseFromString(lost.error_details()));
    ASSERT_TRUE(details.details(0).UnpackTo(&detail));
    EXPECT_EQ(detail.metadata().at("current_etag"), current.etag());
  }
}

TEST_F(ConfigTest, FailsNoRequestWhileItChangesAThousandTimes) {
  const std::unique_ptr<ScriptedEngine> other = StartEngine();
  for (ScriptedEngine* engine : {engine_.get(), other.get()}) {
    engine->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Chunk(kDoneEvent).LastChunk());
  }
  SteadyClients clients(static_cast<uint16_t>(gateway_->port()), ChatRequest());
  constexpr int kChanges = 1000;
  pb::Config config = GetConfig();
  for (int change = 1; change <= kChanges; ++change) {
    config.mutable_pools(0)->mutable_endpoints(0)->set_uri(change % 2 == 0 ? engine_->uri()
                                                                           : other->uri());
    pb::Config updated;
    const grpc::Status status = Update(config, &updated);
    ASSERT_TRUE(status.ok()) << status.error_message();
    config = updated;
    if (change % 100 == 0) {  // requests pass all the time, on each configuration some
      EXPECT_TRUE(clients.WaitForMore());
    }
  }
  clients.Stop();
  EXPECT_EQ(clients.failed(), 0);
  EXPECT_EQ(GetConfig().generation(), 1 + kChanges);
  EXPECT_GT(engine_->counts().requests, 0u);
  EXPECT_GT(other->counts().requests, 0u);
}

TEST_F(ConfigTest, TellsWhichVersionsRunningStreamsHold) {
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  pb::Config config = GetConfig();
  config.mutable_limits()->set_max_in_flight(5);
  pb::Config updated;
  ASSERT_TRUE(Update(config, &updated).ok());
  pb::PlanConfigRequest request;
  *request.mutable_config() = updated;
  grpc::ClientContext plan_context;
  pb::PlanConfigResponse plan;
  ASSERT_TRUE(stub_->PlanConfig(&plan_context, request, &plan).ok());
  EXPECT_EQ(plan.changes_size(), 0);
  ASSERT_EQ(plan.holders_size(), 1);
  EXPECT_EQ(plan.holders(0).generation(), 1);
  EXPECT_EQ(plan.holders(0).exchanges(), 1);
  grpc::ClientContext list_context;
  pb::ListConfigVersionsResponse list;
  ASSERT_TRUE(stub_->ListConfigVersions(&list_context, {}, &list).ok());
  ASSERT_EQ(list.versions_size(), 2);
  EXPECT_EQ(list.versions(0).exchanges(), 0);
  EXPECT_EQ(list.versions(1).exchanges(), 1);
  EXPECT_EQ(list.versions(1).author(), "--config");
  engine_->OpenGate("rest");
}

}  // namespace
}  // namespace sluice::testing
