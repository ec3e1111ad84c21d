// What operators see and steer while streams run, over a real channel.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/gateway_fixture.h"
#include "tests/integration/steady_clients.h"
#include "tests/support/chat_events.h"
#include "tests/support/scoped_env.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;
using ::testing::ElementsAre;

class ControlTest : public GatewayFixture {
 protected:
  void StartStubs() {
    auto channel = grpc::CreateChannel(absl::StrCat("127.0.0.1:", gateway_->control_port()),
                                       grpc::InsecureChannelCredentials());
    control_ = pb::ControlService::NewStub(channel);
    observer_ = pb::ObserverService::NewStub(channel);
  }

  pb::Config GetConfig() {
    grpc::ClientContext context;
    pb::Config config;
    const grpc::Status status = control_->GetConfig(&context, {}, &config);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return config;
  }

  /// Points the one endpoint there is to `uri`.
  grpc::Status SetUri(const std::string& uri, std::string etag = "") {
    pb::UpdateConfigRequest request;
    *request.mutable_config() = GetConfig();
    request.mutable_config()->mutable_pools(0)->mutable_endpoints(0)->set_uri(uri);
    if (!etag.empty()) request.mutable_config()->set_etag(etag);
    grpc::ClientContext context;
    pb::Config updated;
    return control_->UpdateConfig(&context, request, &updated);
  }

  std::unique_ptr<pb::ControlService::Stub> control_;
  std::unique_ptr<pb::ObserverService::Stub> observer_;
};

TEST_F(ControlTest, StreamsTheEventsOfAnExchangeInOrder) {
  StartBoth();
  StartStubs();
  grpc::ClientContext context;
  pb::WatchEventsRequest request;
  request.set_follow(true);
  auto watch = observer_->WatchEvents(&context, request);
  pb::WatchEventsResponse response;
  ASSERT_TRUE(watch->Read(&response)) << "the first response comes at once";

  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(ContentEvent("a"))
                       .Chunk(UsageEvent(5, 2))
                       .Chunk(kDoneEvent)
                       .LastChunk());
  EXPECT_EQ(Exchange(ChatRequest(true, "X-Request-Id: watched\r\n")).status, 200);
  std::vector<pb::Event> events;
  while (events.empty() || !events.back().has_exchange_finished()) {
    ASSERT_TRUE(watch->Read(&response));
    events.insert(events.end(), response.events().begin(), response.events().end());
  }
  std::vector<pb::Event::KindCase> kinds;
  for (const pb::Event& event : events) {
    kinds.push_back(event.kind_case());
    EXPECT_EQ(event.request_id(), "watched");
    EXPECT_EQ(event.model(), "m1");
  }
  EXPECT_THAT(kinds, ElementsAre(pb::Event::kExchangeStarted, pb::Event::kAttemptStarted,
                                 pb::Event::kFirstByte, pb::Event::kFirstFrame, pb::Event::kChunk,
                                 pb::Event::kChunk, pb::Event::kUsage, pb::Event::kChunk,
                                 pb::Event::kExchangeFinished));
  EXPECT_EQ(events.back().exchange_finished().cause(), pb::CAUSE_COMPLETED);
  EXPECT_EQ(events.back().exchange_finished().usage().total_tokens(), 7);
  context.TryCancel();
}

TEST_F(ControlTest, StreamsTheChangesOfAKeyWithItsPool) {
  const ScopedEnv env("SLUICE_TEST_WATCHED_KEY", "sk-one");
  engine_ = StartEngine();
  engine_->Enqueue(Script().Json("{}", "401 Unauthorized"));
  config::Config config = ConfigFor(engine_->uri());
  config.pools[0].keys = {{.id = "k1", .env = "SLUICE_TEST_WATCHED_KEY"}};
  StartGateway(std::move(config));
  StartStubs();
  grpc::ClientContext context;
  pb::WatchEventsRequest request;
  request.set_follow(true);
  request.add_filters()->add_pools("chat");
  request.mutable_filters(0)->add_kinds(pb::EVENT_KIND_KEY_STATE_CHANGED);
  auto watch = observer_->WatchEvents(&context, request);
  pb::WatchEventsResponse response;
  ASSERT_TRUE(watch->Read(&response));

  Exchange(ChatRequest(false));
  ASSERT_TRUE(watch->Read(&response));
  ASSERT_EQ(response.events_size(), 1);
  EXPECT_EQ(response.events(0).key_state_changed().key_id(), "k1");
  EXPECT_EQ(response.events(0).key_state_changed().state(), pb::KeyStatus::STATE_REFUSED);
  EXPECT_GT(response.events(0).time().seconds(), 0);
  context.TryCancel();
  gateway_ = nullptr;  // its threads end before the variable does
}

TEST_F(ControlTest, FitsTheRingOfEventsToTheConfiguration) {
  engine_ = StartEngine();
  config::Config config = ConfigFor(engine_->uri());
  config.limits.event_ring_capacity = 2048;
  StartGateway(std::move(config));
  StartStubs();
  const auto capacity = [this] {
    grpc::ClientContext context;
    pb::ServerStatus status;
    EXPECT_TRUE(observer_->GetServerStatus(&context, {}, &status).ok());
    return status.ring().capacity();
  };
  EXPECT_EQ(capacity(), 2048);
  pb::UpdateConfigRequest request;
  *request.mutable_config() = GetConfig();
  request.mutable_config()->mutable_limits()->set_event_ring_capacity(1024);
  request.mutable_update_mask()->add_paths("limits");
  grpc::ClientContext context;
  pb::Config updated;
  const grpc::Status status = control_->UpdateConfig(&context, request, &updated);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(capacity(), 1024);
}

TEST_F(ControlTest, TellsWhatItServes) {
  StartBoth();
  StartStubs();
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  grpc::ClientContext context;
  pb::ServerStatus status;
  ASSERT_TRUE(observer_->GetServerStatus(&context, {}, &status).ok());
  EXPECT_EQ(status.in_flight(), 1);
  EXPECT_EQ(status.accepted(), 1);
  EXPECT_EQ(status.config_generation(), 1);
}

TEST_F(ControlTest, AppliesAConfigurationToAGatewayThatHadNone) {
  engine_ = StartEngine();
  engine_->AnswerAll(Script().Json("{}"));
  StartGateway(std::nullopt);
  StartStubs();
  EXPECT_EQ(Exchange(ChatRequest(false)).status, 503);
  pb::UpdateConfigRequest request;
  request.mutable_config()->set_etag(GetConfig().etag());
  pb::Pool* pool = request.mutable_config()->add_pools();
  pool->set_id("chat");
  pool->add_endpoints()->set_id("a");
  pool->mutable_endpoints(0)->set_uri(engine_->uri());
  pb::Route* route = request.mutable_config()->add_routes();
  route->set_model("*");
  route->set_pool("chat");
  grpc::ClientContext context;
  pb::Config updated;
  const grpc::Status status = control_->UpdateConfig(&context, request, &updated);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(Exchange(ChatRequest(false)).status, 200);
}

TEST_F(ControlTest, SwapsTheUpstreamUnderLoadWithNoFailedRequest) {
  StartBoth();
  StartStubs();
  const std::unique_ptr<ScriptedEngine> other = StartEngine();
  for (ScriptedEngine* engine : {engine_.get(), other.get()}) {
    engine->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Chunk(kDoneEvent).LastChunk());
  }
  SteadyClients clients(static_cast<uint16_t>(gateway_->port()), ChatRequest());
  for (int swap = 0; swap < 50; ++swap) {
    const grpc::Status status = SetUri(swap % 2 == 0 ? other->uri() : engine_->uri());
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(clients.WaitForMore());
  }
  clients.Stop();
  EXPECT_EQ(clients.failed(), 0);
  EXPECT_GT(engine_->counts().requests, 0u);
  EXPECT_GT(other->counts().requests, 0u);
}

TEST_F(ControlTest, LetsRunningExchangesKeepTheirConfiguration) {
  StartBoth();
  StartStubs();
  engine_->Enqueue(
      Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").Chunk(kDoneEvent).LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  const std::unique_ptr<ScriptedEngine> other = StartEngine();
  other->AnswerAll(Script().Json("{}"));
  ASSERT_TRUE(SetUri(other->uri()).ok());
  EXPECT_EQ(Exchange(ChatRequest(false)).body, "{}");
  engine_->OpenGate("rest");
  EXPECT_EQ(client.ReadChunk().value_or(""), ContentEvent("a"));
  EXPECT_EQ(client.ReadChunk().value_or(""), kDoneEvent);
}

TEST_F(ControlTest, RefusesAnUpdateOnAnOldEtag) {
  StartBoth();
  StartStubs();
  const std::string old_etag = GetConfig().etag();
  ASSERT_TRUE(SetUri("http://127.0.0.1:9").ok());
  EXPECT_EQ(SetUri("http://127.0.0.1:10", old_etag).error_code(), grpc::StatusCode::ABORTED);
}

}  // namespace
}  // namespace sluice::testing
