// A client that leaves cancels the upstream, whatever the exchange was doing.

#include <functional>
#include <string>

#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"

namespace sluice::testing {
namespace {

struct Departure {
  std::string name;
  std::function<void(RawClient&)> leave;
};

struct Phase {
  std::string name;
  Script script;  // stands at the gate "here" when the client leaves
  bool streams = true;
  bool client_has_head = false;
};

class CancelTest : public GatewayFixture,
                   public ::testing::WithParamInterface<std::tuple<Phase, Departure>> {};

TEST_P(CancelTest, ClosesTheUpstreamConnectionOfAClientThatLeft) {
  const auto& [phase, departure] = GetParam();
  StartBoth();
  engine_->AnswerAll(phase.script);
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(phase.streams)).ok());
  ASSERT_TRUE(engine_->WaitAtGate("here"));
  if (phase.client_has_head) {
    ASSERT_TRUE(client.ReadHead().ok());
  }
  departure.leave(client);
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_EQ(engine_->counts().requests, 1u) << "nobody waits for a retry";
  EXPECT_TRUE(Eventually([&] { return gateway_->in_flight() == 0; }));
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
}

const Departure kDepartures[] = {
    {"Fin", [](RawClient& client) { client.Close(); }},
    {"Reset", [](RawClient& client) { client.Reset(); }},
    {"HalfClose", [](RawClient& client) { client.HalfClose(); }},
    {"StrayBytesThenFin",
     [](RawClient& client) {
       ASSERT_TRUE(client.Send("GET /stray HTTP/1.1\r\n").ok());
       client.HalfClose();
     }},
};

const Phase kPhases[] = {
    {"BeforeTheHead", Script().Gate("here")},
    {"InTheHold", Script().SseHead().Chunk(": ping\n\n").Gate("here")},
    {"InTheStream", Script().SseHead().Chunk(ContentEvent("a")).Gate("here"), true, true},
    {"InAUnaryAnswer", Script().Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{").Gate("here"),
     false, true},
    {"BeforeAUnaryAnswer", Script().Gate("here"), false},
};

INSTANTIATE_TEST_SUITE_P(, CancelTest,
                         ::testing::Combine(::testing::ValuesIn(kPhases),
                                            ::testing::ValuesIn(kDepartures)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + "By" +
                                  std::get<1>(instance.param).name;
                         });

class UpstreamLossTest : public GatewayFixture {};

TEST_F(UpstreamLossTest, AnswersNoCapacityWhenTheUpstreamIsDead) {
  const RefusingPort dead;
  StartGateway(ConfigFor(dead.uri()));
  const RawResponse response = Exchange(ChatRequest());
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find(R"("code":"no_capacity")"), std::string::npos) << response.body;
}

TEST_F(UpstreamLossTest, AnswersNoCapacityUntilThereIsAConfiguration) {
  StartGateway(std::nullopt);
  const RawResponse response = Exchange(ChatRequest());
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find(R"("code":"no_capacity")"), std::string::npos) << response.body;
}

TEST_F(UpstreamLossTest, EndsABrokenStreamWithOneErrorEventAndNoDone) {
  StartBoth();
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Gate("break").Reset());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  ASSERT_EQ(client.ReadChunk().value_or(""), ContentEvent("a"));
  engine_->OpenGate("break");
  const std::string last = client.ReadChunk().value_or("nothing");
  EXPECT_TRUE(last.starts_with("data: {\"error\":")) << last;
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), "") << "the body ends in order";
}

TEST_F(UpstreamLossTest, BreaksOffAUnaryAnswerThatTheUpstreamBrokeOff) {
  StartBoth();
  engine_->Enqueue(
      Script().Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{").Gate("break").Fin());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  engine_->OpenGate("break");
  EXPECT_FALSE(client.ReadBytes(2).ok());
}

}  // namespace
}  // namespace sluice::testing
