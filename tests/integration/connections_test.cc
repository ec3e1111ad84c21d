// What becomes of connections between and behind exchanges, on both sides.

#include <string>

#include "absl/strings/str_cat.h"

#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"

namespace sluice::testing {
namespace {

class ConnectionsTest : public GatewayFixture {};

TEST_F(ConnectionsTest, CarriesRequestAfterRequest) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}"));
  RawClient client = Connect();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
    EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, "{}");
  }
  EXPECT_EQ(engine_->counts().accepted, 1u) << "the upstream connection is reused too";
}

TEST_F(ConnectionsTest, CarriesARequestBehindAStream) {
  StartBoth();
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Chunk(kDoneEvent).LastChunk());
  RawClient client = Connect();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.Send(ChatRequest()).ok());
    EXPECT_TRUE(client.ReadResponse().value_or(RawResponse()).complete());
  }
  EXPECT_EQ(engine_->counts().accepted, 1u);
}

TEST_F(ConnectionsTest, AnswersPipelinedRequestsInOrder) {
  StartBoth();
  engine_->Enqueue(Script().Json(R"({"first":1})"));
  engine_->Enqueue(Script().Json(R"({"second":2})"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false) + ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, R"({"first":1})");
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, R"({"second":2})");
}

TEST_F(ConnectionsTest, SendsARequestOnceMoreWhenItsReusedConnectionDiedUnanswered) {
  StartBoth();
  engine_->Enqueue(Script().Json(R"({"first":1})"));
  engine_->Enqueue(Script().Fin());
  engine_->Enqueue(Script().Json(R"({"second":2})"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, R"({"first":1})");
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, R"({"second":2})");
  EXPECT_EQ(engine_->counts().accepted, 2u);
}

TEST_F(ConnectionsTest, SendsNoRequestThirdTime) {
  StartBoth();
  engine_->Enqueue(Script().Json("{}"));
  engine_->Enqueue(Script().Fin());
  engine_->Enqueue(Script().Fin());
  engine_->Enqueue(Script().Json("{}"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 502);
  EXPECT_EQ(engine_->counts().requests, 3u);
}

TEST_F(ConnectionsTest, FailsNoRequestWhileTheUpstreamClosesIdleConnections) {
  ScriptedEngine::Options options;
  options.keep_alive = std::chrono::milliseconds(0);
  engine_ = StartEngine(options);
  StartGateway(ConfigFor(engine_->uri()), 1);
  engine_->AnswerAll(Script().Json("{}"));
  RawClient client = Connect();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
    ASSERT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200) << i;
  }
  EXPECT_EQ(engine_->counts().requests, 200u);
}

TEST_F(ConnectionsTest, DoesNotReuseAnUpstreamConnectionWithStrayBytes) {
  StartBoth();
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(ContentEvent("a"))
                       .Chunk(kDoneEvent)
                       .LastChunk()
                       .Raw("5\r\nhello\r\n"));
  engine_->Enqueue(Script().Json("{}"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  EXPECT_TRUE(client.ReadResponse().value_or(RawResponse()).complete());
  ASSERT_TRUE(engine_->WaitForAnswered(1)) << "the stray bytes are on their way";
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, "{}");
  EXPECT_EQ(engine_->counts().accepted, 2u);
}

TEST_F(ConnectionsTest, DoesNotReuseAnUpstreamConnectionThatSpokeWhileItWasIdle) {
  StartBoth();
  engine_->Enqueue(
      Script().Json("{}").Gate("stray").Raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"));
  engine_->Enqueue(Script().Json("{}"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, "{}");
  engine_->OpenGate("stray");
  ASSERT_TRUE(engine_->WaitForAnswered(1));
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, "{}");
}

TEST_F(ConnectionsTest, ClosesBehindAnAnswerOfItsOwn) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}"));
  RawClient client = Connect();
  // The canary behind the refused request must never run.
  ASSERT_TRUE(
      client.Send(PostRequest("/v1/chat/completions", "not JSON") + GetRequest("/canary")).ok());
  const RawResponse refusal = client.ReadResponse().value_or(RawResponse());
  EXPECT_EQ(refusal.status, 400);
  EXPECT_EQ(refusal.HeaderValues("Connection"), std::vector<std::string>{"close"});
  EXPECT_TRUE(client.ReadToEnd().ok());
  EXPECT_EQ(engine_->counts().requests, 0u);
}

TEST_F(ConnectionsTest, ClosesPooledConnectionsThatNobodyUses) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}"));
  EXPECT_EQ(Exchange(ChatRequest(false)).status, 200);
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
}

TEST_F(ConnectionsTest, ClosesIdleConnectionsAtOnceWhenItDrains) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  gateway_->Drain();
  EXPECT_TRUE(client.ReadToEnd().ok());
  gateway_->StopAccepting();
  EXPECT_TRUE(Eventually([&] { return gateway_->idle(); }));
  EXPECT_FALSE(RawClient::Connect(static_cast<uint16_t>(gateway_->port())).ok());
}

TEST_F(ConnectionsTest, TakesInWhoHadConnectedBeforeItStopsAccepting) {
  StartBoth();
  gateway_->Drain();
  for (int round = 0; round < 20; ++round) {
    RawClient client = Connect();
    gateway_->StopAccepting();
    ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
    ASSERT_EQ(client.ReadResponse().value_or(RawResponse()).status, 503);
    gateway_.reset();
    StartGateway(ConfigFor(engine_->uri()), 1);
    gateway_->Drain();
  }
}

TEST_F(ConnectionsTest, BeginsNoExchangeOnceItStops) {
  StartBoth();
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  RawClient client = Connect();
  const std::string request = ChatRequest();
  ASSERT_TRUE(client.Send(request.substr(0, 20)).ok());
  EXPECT_TRUE(Eventually([&] { return gateway_->resources().client_connections == 1; }));
  gateway_.reset();
  EXPECT_FALSE(client.Send(request.substr(20)).ok() && client.ReadResponse().ok());
}

TEST_F(ConnectionsTest, LetsARunningStreamEndWhileItDrains) {
  StartBoth();
  engine_->Enqueue(
      Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").Chunk(kDoneEvent).LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  gateway_->Drain();
  EXPECT_EQ(gateway_->undrained(), 1);
  engine_->OpenGate("rest");
  EXPECT_EQ(client.ReadChunk().value_or(""), ContentEvent("a"));
  EXPECT_EQ(client.ReadChunk().value_or(""), kDoneEvent);
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), "");
  EXPECT_TRUE(Eventually([&] { return gateway_->undrained() == 0; }));
}

TEST_F(ConnectionsTest, AnswersARequestThatWasHalfReadWhenTheDrainBegan) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}"));
  RawClient client = Connect();
  const std::string request = ChatRequest(false, "Expect: 100-continue\r\n");
  const size_t head_bytes = request.find("\r\n\r\n") + 4;
  ASSERT_TRUE(client.Send(request.substr(0, head_bytes)).ok());
  ASSERT_EQ(client.ReadResponse().value_or(RawResponse()).status, 100)
      << "the gateway reads the body";
  gateway_->Drain();
  ASSERT_TRUE(client.Send(request.substr(head_bytes)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  EXPECT_TRUE(client.ReadToEnd().ok());
}

TEST_F(ConnectionsTest, EndsARunningStreamInItsDialectWhenItStops) {
  StartBoth();
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(client.ReadChunk().value_or(""), ContentEvent("a"));
  gateway_.reset();
  const std::string last = client.ReadChunk().value_or("nothing");
  EXPECT_NE(last.find(R"("code":"drained")"), std::string::npos) << last;
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), "");
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

}  // namespace
}  // namespace sluice::testing
