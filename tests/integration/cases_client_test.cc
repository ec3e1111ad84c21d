// Cases on clients that leave or are slow, and on requests and their headers (ids B043 to B056,
// B095 to B114, B132, B139).

#include <string>
#include <vector>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kGood = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);

Script Good() { return Script().SseHead().Chunk(kGood).LastChunk(); }

class ClientCases : public CaseTest {};

TEST_F(ClientCases, B043_LeavingInMidStreamCancelsAndKeepsThePartialUsage) {
  StartOne();
  const std::string event =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],"
      "\"usage\":{\"prompt_tokens\":6,\"completion_tokens\":1}}\n\n";
  engine_->Enqueue(
      Script().SseHead().Repeat(kForever, Script().Chunk(event).Pause(milliseconds(5))));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.ReadChunk().ok());
  client.Close();
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  const FinishedExchange finished = Finished();
  EXPECT_EQ(finished.record.cause, Cause::kClientGone);
  EXPECT_EQ(InfoOf(Cause::kClientGone).level, LogLevel::kInfo);
  EXPECT_EQ(finished.record.provenance, Provenance::kPartial);
  ASSERT_TRUE(finished.record.usage.has_value());
  EXPECT_EQ(finished.record.usage->prompt_tokens, 6);
}

TEST_F(ClientCases, B044_LeavingBeforeTheHeadIsNotRetried) {
  StartTwo();
  engine_->Enqueue(Script().Gate("here"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(engine_->WaitAtGate("here"));
  client.Reset();
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_EQ(Finished().record.cause, Cause::kClientGone);
  EXPECT_EQ(second_->counts().accepted, 0u);
}

TEST_F(ClientCases, B046_AHalfClosedClientGivesItsSlotBack) {
  StartOne([](config::Config& config) { config.limits.max_in_flight = 1; });
  engine_->Enqueue(Script().Gate("here"));
  RawClient first = Connect();
  ASSERT_TRUE(first.Send(ChatRequest()).ok());
  ASSERT_TRUE(engine_->WaitAtGate("here"));
  ExpectError(Run(), 503, "no_capacity");
  first.HalfClose();
  EXPECT_EQ(Finished(1).record.cause, Cause::kClientGone);
  ExpectPassed(RunScript(Good()), kGood);
}

TEST_F(ClientCases, B054_ClientsThatLeftHoldNoSlots) {
  constexpr int kSlots = 4;
  StartOne([](config::Config& config) { config.limits.max_in_flight = kSlots; });
  engine_->AnswerAll(Script().Gate("here"));
  {
    std::vector<RawClient> clients;
    for (int i = 0; i < kSlots; ++i) {
      clients.push_back(Connect());
      ASSERT_TRUE(clients.back().Send(ChatRequest(false)).ok());
    }
    ASSERT_TRUE(engine_->WaitAtGate("here", kSlots));
  }
  EXPECT_EQ(finished_.WaitFor(kSlots).size(), static_cast<size_t>(kSlots));
  ExpectPassed(RunScript(Good()), kGood);
}

TEST_F(ClientCases, B050_ManyDeparturesAreNoFaultOfTheEndpoint) {
  StartOne();
  engine_->AnswerAll(Script().Gate("here"));
  for (size_t i = 0; i < 20; ++i) {
    RawClient client = Connect();
    ASSERT_TRUE(client.Send(ChatRequest()).ok());
    ASSERT_TRUE(engine_->WaitForRequests(i + 1));
    client.Reset();
    EXPECT_EQ(Finished(i).record.cause, Cause::kClientGone);
  }
  ExpectPassed(RunScript(Good()), kGood);
}

TEST_F(ClientCases, B055_ADepartureReachesTheEngineBehindTwoGateways) {
  StartOne();
  server::GatewayOptions outer_options;
  outer_options.listen = outer_options.control = outer_options.admin = "127.0.0.1:0";
  outer_options.loops = 1;
  outer_options.config = ConfigFor(absl::StrCat("http://127.0.0.1:", gateway_->port()));
  const auto outer = server::Gateway::Start(outer_options);
  ASSERT_TRUE(outer.ok()) << outer.status();
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  RawClient client = RawClient::Connect(static_cast<uint16_t>((*outer)->port())).value();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  client.Reset();
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_EQ(Finished().record.cause, Cause::kClientGone);
}

class RequestCases : public CaseTest {
 protected:
  /// The request as the engine got it; the answer is asserted to have passed.
  EngineRequest Sent(const std::string& request) {
    ExpectPassed(RunScript(Good(), request), kGood);
    return engine_->requests().back();
  }
};

TEST_F(RequestCases, B096_EachSetCookieStaysALineOfItsOwn) {
  StartOne();
  const Outcome outcome =
      RunScript(Script()
                    .SseHead("Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\n"
                             "Set-Cookie: b=2\r\nSet-Cookie: a=3\r\n")
                    .Chunk(kGood)
                    .LastChunk());
  EXPECT_THAT(outcome.response.HeaderValues("Set-Cookie"),
              ElementsAre("a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2", "a=3"));
}

TEST_F(RequestCases, B139_TheCallerNamesNoUpstream) {
  StartOne();
  const std::unique_ptr<ScriptedEngine> elsewhere = StartEngine();
  const std::string body =
      absl::StrCat(R"({"api_base":")", elsewhere->uri(), R"(","base_url":")", elsewhere->uri(),
                   R"(","model":")", elsewhere->uri(), R"(/m","stream":true})");
  const EngineRequest request = Sent(
      PostRequest("/v1/chat/completions", body,
                  absl::StrCat("X-Upstream: ", elsewhere->uri(),
                               "\r\nX-Forwarded-Host: 127.0.0.1:", elsewhere->port(), "\r\n")));
  EXPECT_EQ(request.body, body);
  EXPECT_THAT(request.HeaderValues("Host"),
              ElementsAre(absl::StrCat("127.0.0.1:", engine_->port())));
  EXPECT_EQ(elsewhere->counts().accepted, 0u);
}

TEST_F(RequestCases, B103_TheHostOfAnyLegalFormIsNotPassedOn) {
  StartOne();
  const std::string body = R"({"model":"m1","stream":true})";
  const std::string rest = absl::StrCat("Content-Length: ", body.size(), "\r\n\r\n", body);
  const std::string kOurs = absl::StrCat("127.0.0.1:", engine_->port());
  EXPECT_THAT(Sent(absl::StrCat("POST /v1/chat/completions HTTP/1.1\r\nHost: [::1]:8080\r\n", rest))
                  .HeaderValues("Host"),
              ElementsAre(kOurs));
  const EngineRequest absolute = Sent(absl::StrCat(
      "POST http://elsewhere.test/v1/chat/completions?x=1 HTTP/1.1\r\nHost: other.test\r\n", rest));
  EXPECT_THAT(absolute.HeaderValues("Host"), ElementsAre(kOurs));
  EXPECT_EQ(absolute.target(), "/v1/chat/completions?x=1");
}

TEST_F(RequestCases, B113_OddNegotiationChangesNoStream) {
  StartOne();
  for (const char* header :
       {"Accept: text/event-stream;q=abc\r\n", "Range: bytes=0-\r\n", "If-None-Match: \"x\"\r\n",
        "Accept-Encoding: br\r\n", "Accept: */*;;,\r\n"}) {
    SCOPED_TRACE(header);
    Sent(ChatRequest(true, header));
  }
}

TEST_F(RequestCases, B114_HeadersThatConnectionNamesStayBehind) {
  StartOne();
  const EngineRequest request = Sent(
      ChatRequest(true,
                  "Connection: X-Secret, close\r\nX-Secret: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n"
                  "Proxy-Authorization: b\r\nKeep-Alive: 5\r\n"));
  for (const char* name :
       {"Connection", "X-Secret", "TE", "Upgrade", "Proxy-Authorization", "Keep-Alive"}) {
    EXPECT_THAT(request.HeaderValues(name), IsEmpty()) << name;
  }
}

TEST_F(RequestCases, PercentEscapesInHeadersAreNotDecoded) {
  StartOne();
  const EngineRequest request =
      Sent(ChatRequest(true, "X-Odd: a%0d%0aX-Injected: 1\r\nX-Slash: a%2Fb\r\n"));
  EXPECT_THAT(request.HeaderValues("X-Odd"), ElementsAre("a%0d%0aX-Injected: 1"));
  EXPECT_THAT(request.HeaderValues("X-Slash"), ElementsAre("a%2Fb"));
  EXPECT_THAT(request.HeaderValues("X-Injected"), IsEmpty());
}

TEST_F(RequestCases, B132_SilentStreamsDoNotKeepAProbeWaiting) {
  constexpr int kStreams = 64;
  StartOne();
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  std::vector<RawClient> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(Connect());
    ASSERT_TRUE(clients.back().Send(ChatRequest()).ok());
  }
  for (RawClient& client : clients) ASSERT_TRUE(client.ReadHead().ok());
  RawClient probe = RawClient::Connect(static_cast<uint16_t>(gateway_->admin_port())).value();
  ASSERT_TRUE(probe.Send(GetRequest("/healthz")).ok());
  EXPECT_EQ(probe.ReadResponse().value_or(RawResponse()).status, 200);
}

}  // namespace
}  // namespace sluice::testing
