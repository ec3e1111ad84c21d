// An operator drains endpoints and the server, over a real channel.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"

#include "tests/integration/steer_fixture.h"
#include "tests/server/generic_call.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DrainTest : public SteerTest {
 protected:
  /// Two endpoints, a and b, each an engine of its own.
  void StartTwo() {
    engine_ = StartEngine();
    other_ = StartEngine();
    config::Config config = ConfigFor(engine_->uri());
    config.pools[0].endpoints.push_back({"b", other_->uri()});
    StartGateway(std::move(config));
    StartStubs();
    engine_->AnswerAll(OneEventThenGate());
    other_->AnswerAll(Script().Json("{\"from\":\"b\"}"));
  }

  std::unique_ptr<grpc::ClientReader<pb::DrainProgress>> Drain(grpc::ClientContext& context,
                                                               bool cancel, int seconds) {
    pb::DrainEndpointRequest request;
    request.set_name(kEndpointA);
    request.set_cancel(cancel);
    request.set_reason("new driver");
    request.mutable_timeout()->set_seconds(seconds);
    return control_->DrainEndpoint(&context, request);
  }

  pb::EndpointStatus EndpointA() {
    grpc::ClientContext context;
    pb::ListEndpointsResponse response;
    EXPECT_TRUE(observer_->ListEndpoints(&context, {}, &response).ok());
    EXPECT_EQ(response.endpoints(0).name(), kEndpointA);
    return response.endpoints(0);
  }

  std::unique_ptr<ScriptedEngine> other_;
};

TEST_F(DrainTest, SendsNoMoreToADrainedEndpointAndTellsWhoRemains) {
  StartTwo();
  RawClient client = StreamingClient();
  const pb::Exchange running = WaitForRunning(pb::PHASE_RELAY);
  grpc::ClientContext context;
  auto drain = Drain(context, /*cancel=*/false, 3600);
  pb::DrainProgress progress;
  ASSERT_TRUE(drain->Read(&progress));
  EXPECT_EQ(progress.remaining(), 1);
  ASSERT_EQ(progress.oldest_size(), 1);
  EXPECT_EQ(progress.oldest(0).id(), running.id());
  EXPECT_FALSE(progress.done());
  EXPECT_EQ(EndpointA().state(), pb::EndpointStatus::STATE_DRAINING);
  EXPECT_EQ(EndpointA().in_flight(), 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Exchange(ChatRequest(false)).body, "{\"from\":\"b\"}");

  engine_->OpenGate("more");
  while (drain->Read(&progress)) {
  }
  EXPECT_TRUE(drain->Finish().ok());
  EXPECT_TRUE(progress.done());
  EXPECT_EQ(progress.remaining(), 0);
  EXPECT_EQ(progress.cancelled(), 0);
  EXPECT_THAT(client.unread() + client.ReadChunk().value_or(""), HasSubstr("usage"));
}

TEST_F(DrainTest, CancelsAtTheDeadlineWhoRemainsIfAsked) {
  StartTwo();
  RawClient client = StreamingClient();
  const pb::Exchange running = WaitForRunning(pb::PHASE_RELAY);
  grpc::ClientContext context;
  auto drain = Drain(context, /*cancel=*/true, 0);
  pb::DrainProgress progress;
  while (drain->Read(&progress)) {
  }
  EXPECT_TRUE(drain->Finish().ok());
  EXPECT_EQ(progress.cancelled(), 1);
  EXPECT_EQ(progress.remaining(), 0);
  EXPECT_THAT(client.ReadChunk().value_or(""), ::testing::StartsWith("data: {\"error\":"));
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  const pb::Exchange over = Get(running.id());
  EXPECT_EQ(over.finished().cause(), pb::CAUSE_DRAINED);
  EXPECT_THAT(over.finished().detail(), HasSubstr("new driver"));
}

TEST_F(DrainTest, LeavesAloneWhoRemainsIfNotAsked) {
  StartTwo();
  RawClient client = StreamingClient();
  WaitForRunning(pb::PHASE_RELAY);
  grpc::ClientContext context;
  auto drain = Drain(context, /*cancel=*/false, 0);
  pb::DrainProgress progress;
  while (drain->Read(&progress)) {
  }
  EXPECT_TRUE(drain->Finish().ok());
  EXPECT_TRUE(progress.done());
  EXPECT_EQ(progress.remaining(), 1);
  EXPECT_EQ(gateway_->in_flight(), 1);
}

TEST_F(DrainTest, ResumesADrainedEndpointAndPublishesBothChanges) {
  StartTwo();
  grpc::ClientContext watch_context;
  pb::WatchEventsRequest watched;
  watched.set_follow(true);
  watched.add_filters()->add_kinds(pb::EVENT_KIND_ENDPOINT_STATE_CHANGED);
  auto watch = observer_->WatchEvents(&watch_context, watched);
  pb::WatchEventsResponse news;
  ASSERT_TRUE(watch->Read(&news));
  grpc::ClientContext context;
  auto drain = Drain(context, /*cancel=*/false, 3600);
  pb::DrainProgress progress;
  while (drain->Read(&progress)) {
  }
  EXPECT_EQ(progress.remaining(), 0);

  grpc::ClientContext resume_context;
  pb::ResumeEndpointRequest request;
  request.set_name(kEndpointA);
  pb::EndpointStatus resumed;
  EXPECT_TRUE(control_->ResumeEndpoint(&resume_context, request, &resumed).ok());
  EXPECT_EQ(resumed.state(), pb::EndpointStatus::STATE_ACTIVE);
  engine_->OpenGate("more");
  Exchange(ChatRequest(false));
  Exchange(ChatRequest(false));
  EXPECT_EQ(EndpointA().attempts(), 1);
  std::vector<pb::EndpointStatus::State> states;
  while (states.size() < 2) {
    ASSERT_TRUE(watch->Read(&news));
    for (const pb::Event& event : news.events()) {
      EXPECT_EQ(event.endpoint(), kEndpointA);
      states.push_back(event.endpoint_state_changed().state());
    }
  }
  EXPECT_THAT(states,
              ElementsAre(pb::EndpointStatus::STATE_DRAINING, pb::EndpointStatus::STATE_ACTIVE));
}

TEST_F(DrainTest, EndsWithoutHarmWhenTheEndpointIsResumed) {
  StartTwo();
  RawClient client = StreamingClient();
  grpc::ClientContext context;
  auto drain = Drain(context, /*cancel=*/true, 3600);
  pb::DrainProgress progress;
  ASSERT_TRUE(drain->Read(&progress));
  grpc::ClientContext resume_context;
  pb::ResumeEndpointRequest request;
  request.set_name(kEndpointA);
  pb::EndpointStatus resumed;
  ASSERT_TRUE(control_->ResumeEndpoint(&resume_context, request, &resumed).ok());
  while (drain->Read(&progress)) {
  }
  EXPECT_EQ(drain->Finish().error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(gateway_->in_flight(), 1);
}

TEST_F(DrainTest, DoesNothingWhenItIsRefusedForWantOfRoom) {
  StartTwo();
  RawClient client = StreamingClient();
  WaitForRunning(pb::PHASE_RELAY);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<pb::DrainProgress>>> drains;
  for (int i = 0; i < 64; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    drains.push_back(Drain(*contexts.back(), /*cancel=*/false, 3600));
    pb::DrainProgress progress;
    ASSERT_TRUE(drains.back()->Read(&progress));
  }
  grpc::ClientContext context;
  auto refused = control_->DrainServer(&context, {});
  pb::DrainProgress progress;
  EXPECT_FALSE(refused->Read(&progress));
  EXPECT_EQ(refused->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_FALSE(gateway_->draining());
  for (auto& other : contexts) other->TryCancel();
  for (auto& drain : drains) drain->Finish();
}

TEST_F(DrainTest, WaitsForARequestThatHasBegunToCome) {
  StartAll();
  engine_->AnswerAll(Script().Json("{}"));
  const std::string request = ChatRequest(false);
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - 5)).ok());
  ASSERT_TRUE(Eventually([&] { return gateway_->resources().client_connections == 1; }));
  grpc::ClientContext context;
  auto drain = control_->DrainServer(&context, {});
  pb::DrainProgress progress;
  ASSERT_TRUE(drain->Read(&progress));
  EXPECT_EQ(progress.remaining(), 1);
  ASSERT_TRUE(client.Send(request.substr(request.size() - 5)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  while (drain->Read(&progress)) {
  }
  EXPECT_TRUE(drain->Finish().ok());
  EXPECT_EQ(progress.remaining(), 0);
}

TEST_F(DrainTest, DoesNotWaitForClientsWithoutARequest) {
  client_reads_.head = client_reads_.keep_alive = std::chrono::hours(1);
  StartAll();
  engine_->AnswerAll(Script().Json("{}"));
  const RawClient before = Connect();
  RawClient idle = Connect();
  ASSERT_TRUE(idle.Send(ChatRequest(false)).ok());
  ASSERT_EQ(idle.ReadResponse().value_or(RawResponse()).status, 200);
  gateway_->Drain();
  const RawClient after = Connect();
  ASSERT_TRUE(Eventually([&] { return gateway_->resources().client_connections == 2; }));
  EXPECT_TRUE(Eventually([&] { return gateway_->undrained() == 0; }));
}

TEST_F(DrainTest, TellsHealthChecksWhenTheEndIsAnnounced) {
  StartAll();
  EXPECT_EQ(HealthOf(channel_), 1);
  gateway_->AnnounceEnd();
  EXPECT_EQ(HealthOf(channel_), 2);
  engine_->AnswerAll(Script().Json("{}"));
  EXPECT_EQ(Exchange(ChatRequest(false)).status, 200);
}

TEST_F(DrainTest, AnswersNoCapacityWhenAllEndpointsAreDrained) {
  StartAll();
  grpc::ClientContext context;
  auto drain = Drain(context, /*cancel=*/false, 0);
  pb::DrainProgress progress;
  while (drain->Read(&progress)) {
  }
  EXPECT_EQ(Exchange(ChatRequest()).status, 503);
  EXPECT_EQ(engine_->counts().requests, 0u);
}

TEST_F(DrainTest, KnowsNoEndpointThatIsNeitherConfiguredNorInUse) {
  StartAll();
  grpc::ClientContext context;
  pb::DrainEndpointRequest request;
  request.set_name("pools/chat/endpoints/zz");
  auto drain = control_->DrainEndpoint(&context, request);
  pb::DrainProgress progress;
  EXPECT_FALSE(drain->Read(&progress));
  EXPECT_EQ(drain->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(DrainTest, DrainsTheServerAndTellsWhoRemains) {
  StartAll();
  engine_->AnswerAll(OneEventThenGate());
  RawClient client = StreamingClient();
  grpc::ClientContext context;
  pb::DrainServerRequest request;
  request.set_reason("new kernel");
  auto drain = control_->DrainServer(&context, request);
  pb::DrainProgress progress;
  ASSERT_TRUE(drain->Read(&progress));
  EXPECT_EQ(progress.remaining(), 1);
  const RawResponse refused = Exchange(ChatRequest());
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("drained"));
  grpc::ClientContext status_context;
  pb::ServerStatus status;
  ASSERT_TRUE(observer_->GetServerStatus(&status_context, {}, &status).ok());
  EXPECT_TRUE(status.draining());
  engine_->OpenGate("more");
  while (drain->Read(&progress)) {
  }
  EXPECT_TRUE(drain->Finish().ok());
  EXPECT_EQ(progress.remaining(), 0);
  EXPECT_TRUE(
      client.ReadUntil([](absl::string_view unread) { return absl::StrContains(unread, "[DONE]"); })
          .ok());
}

}  // namespace
}  // namespace sluice::testing
