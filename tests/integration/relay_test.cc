// What passes through the gateway, over real sockets.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"

#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RelayTest : public GatewayFixture {};

const std::vector<std::string>& Events() {
  static const auto& events =
      *new std::vector<std::string>{ContentEvent("Hel"), ": ping\n\n",     ContentEvent("lo"),
                                    FinishEvent(),       UsageEvent(5, 2), std::string(kDoneEvent)};
  return events;
}

TEST_F(RelayTest, StreamsTheUpstreamsBodyByteForByte) {
  StartBoth();
  engine_->Enqueue(Script().SseHead().Chunks(Events()).LastChunk());
  const RawResponse response = Exchange(ChatRequest());
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.complete());
  EXPECT_EQ(response.body, absl::StrJoin(Events(), ""));
  EXPECT_THAT(response.HeaderValues("Content-Type"), ElementsAre("text/event-stream"));
  EXPECT_THAT(response.HeaderValues("Transfer-Encoding"), ElementsAre("chunked"));
}

TEST_F(RelayTest, HandsOverEventOneWhileTheEngineHoldsEventTwo) {
  StartBoth();
  engine_->Enqueue(
      Script().SseHead().Chunk(Events()[0]).Gate("two").Chunk(Events()[2]).LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), Events()[0]);
  EXPECT_EQ(engine_->counts().answered, 0u);
  engine_->OpenGate("two");
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), Events()[2]);
}

TEST_F(RelayTest, PutsAllThatOneReadBroughtIntoOneChunk) {
  StartBoth();
  std::string framed;
  for (const std::string& event : Events())
    absl::StrAppend(&framed, absl::Hex(event.size()), "\r\n", event, "\r\n");
  engine_->Enqueue(Script().SseHead().Gate("head out").Raw(framed).LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(engine_->WaitAtGate("head out"));
  engine_->OpenGate("head out");
  const RawResponse response = client.ReadResponse().value_or(RawResponse());
  EXPECT_THAT(response.chunks, ElementsAre(absl::StrJoin(Events(), "")));
}

TEST_F(RelayTest, AnswersWithOneRequestIdTheClientsOrOurs) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}", "200 OK", "X-Request-Id: the-upstreams\r\n"));
  EXPECT_THAT(Exchange(ChatRequest(false, "X-Request-Id: mine-1\r\n")).HeaderValues("X-Request-Id"),
              ElementsAre("mine-1"));
  const auto ours = Exchange(ChatRequest(false)).HeaderValues("X-Request-Id");
  ASSERT_EQ(ours.size(), 1u);
  EXPECT_NE(ours[0], "the-upstreams");
  EXPECT_EQ(engine_->requests()[1].HeaderValues("X-Request-Id"), ours);
}

TEST_F(RelayTest, AnswersJsonWithItsLength) {
  StartBoth();
  const std::string body = R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}})";
  engine_->Enqueue(Script().Json(body));
  const RawResponse response = Exchange(ChatRequest(false));
  EXPECT_EQ(response.body, body);
  EXPECT_THAT(response.HeaderValues("Content-Length"), ElementsAre(absl::StrCat(body.size())));
  EXPECT_THAT(response.HeaderValues("Transfer-Encoding"), IsEmpty());
}

TEST_F(RelayTest, PassesAnyMethodAndTargetThrough) {
  StartBoth();
  engine_->AnswerAll(Script().Json("{}"));
  for (const std::string method : {"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "REPORT"}) {
    const std::string target = "/v1/anything?api-version=2024-10-21&x=%2F%20+;a&x=1";
    const RawResponse response = Exchange(absl::StrCat(
        method, " ", target, " HTTP/1.1\r\nHost: gateway\r\nContent-Length: 3\r\n\r\nabc"));
    EXPECT_EQ(response.status, 200) << method;
    const EngineRequest request = engine_->requests().back();
    EXPECT_EQ(request.method(), method);
    EXPECT_EQ(request.target(), target);
    EXPECT_EQ(request.body, "abc");
  }
}

TEST_F(RelayTest, AnswersHeadWithTheLengthAndNoBody) {
  StartBoth();
  engine_->Enqueue(Script().Raw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send("HEAD /v1/models HTTP/1.1\r\nHost: g\r\n\r\n").ok());
  const RawResponse response = client.ReadResponse(/*to_head=*/true).value_or(RawResponse());
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.HeaderValues("Content-Length"), ElementsAre("500"));
  engine_->Enqueue(Script().Json("{}"));
  ASSERT_TRUE(client.Send(GetRequest("/v1/models")).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, "{}");
}

TEST_F(RelayTest, AnswersHeadWithoutALengthToo) {
  StartBoth();
  engine_->Enqueue(Script().Raw(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send("HEAD /v1/models HTTP/1.1\r\nHost: g\r\n\r\n").ok());
  EXPECT_EQ(client.ReadResponse(/*to_head=*/true).value_or(RawResponse()).status, 200);
}

TEST_F(RelayTest, PassesAnswersThatHaveNoBody) {
  StartBoth();
  RawClient client = Connect();
  for (const char* status : {"204 No Content", "304 Not Modified"}) {
    engine_->Enqueue(Script().Raw(absl::StrCat("HTTP/1.1 ", status, "\r\n\r\n")));
    engine_->Enqueue(Script().Json("{}"));
    ASSERT_TRUE(client.Send(GetRequest("/none")).ok());
    const std::string none = client.ReadHead().value_or("");
    EXPECT_THAT(none, StartsWith(absl::StrCat("HTTP/1.1 ", status, "\r\n")));
    EXPECT_THAT(none, Not(HasSubstr("Content-Length")));
    EXPECT_THAT(none, Not(HasSubstr("Transfer-Encoding")));
    ASSERT_TRUE(client.Send(GetRequest("/some")).ok());
    EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).body, "{}");
  }
}

TEST_F(RelayTest, PassesARedirectAndFollowsNone) {
  StartBoth();
  const std::unique_ptr<ScriptedEngine> elsewhere = StartEngine();
  engine_->Enqueue(Script().Json("{}", "307 Temporary Redirect",
                                 absl::StrCat("Location: ", elsewhere->uri(), "/x\r\n")));
  const RawResponse response = Exchange(ChatRequest(false));
  EXPECT_EQ(response.status, 307);
  EXPECT_THAT(response.HeaderValues("Location"), ElementsAre(absl::StrCat(elsewhere->uri(), "/x")));
  EXPECT_EQ(elsewhere->counts().accepted, 0u);
}

TEST_F(RelayTest, EndsTheConnectionBehindAStreamToAnHttp10Client) {
  StartBoth();
  engine_->Enqueue(Script().SseHead().Chunks(Events()).LastChunk());
  const std::string body = R"({"model":"m1","stream":true})";
  const RawResponse response = Exchange(absl::StrCat(
      "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  EXPECT_EQ(response.body, absl::StrJoin(Events(), ""));
  EXPECT_THAT(response.HeaderValues("Transfer-Encoding"), IsEmpty());
  EXPECT_TRUE(response.complete());
}

TEST_F(RelayTest, ResetsTheConnectionOfAnHttp10ClientWhoseAnswerBrokeOff) {
  StartBoth();
  engine_->Enqueue(Script()
                       .Raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n")
                       .Chunk("half")
                       .Gate("break")
                       .Fin());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send("GET /v1/files HTTP/1.0\r\n\r\n").ok());
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(client.ReadBytes(4).value_or(""), "half");
  engine_->OpenGate("break");
  EXPECT_EQ(client.ReadToEnd().code(), absl::StatusCode::kAborted) << "a FIN would look complete";
}

TEST_F(RelayTest, KeepsOrderAndDuplicatesOfHeadersAndDropsHopByHopOnes) {
  StartBoth();
  engine_->Enqueue(
      Script().Json("{}", "200 OK",
                    "Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\nSet-Cookie: b=2\r\n"
                    "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\n"));
  const RawResponse response = Exchange(ChatRequest(
      false,
      "Connection: X-Secret\r\nX-Secret: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nProxy-Authorization: "
      "b\r\n"
      "Authorization: Bearer ck-test-1\r\nX-Api-Key: ck-test-1\r\nCookie: s=1\r\nX-Kept: yes\r\n"));
  EXPECT_THAT(response.HeaderValues("Set-Cookie"),
              ElementsAre("a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"));
  EXPECT_THAT(response.head, Not(HasSubstr("X-Hop")));
  EXPECT_THAT(response.HeaderValues("Keep-Alive"), IsEmpty());
  const EngineRequest request = engine_->requests().at(0);
  for (const char* name : {"X-Secret", "TE", "Upgrade", "Proxy-Authorization", "Authorization",
                           "X-Api-Key", "Cookie", "Connection"}) {
    EXPECT_THAT(request.HeaderValues(name), IsEmpty()) << name;
  }
  EXPECT_THAT(request.HeaderValues("X-Kept"), ElementsAre("yes"));
  EXPECT_THAT(request.HeaderValues("Accept-Encoding"), ElementsAre("identity"));
  EXPECT_THAT(request.HeaderValues("Host"),
              ElementsAre(absl::StrCat("127.0.0.1:", engine_->port())));
}

TEST_F(RelayTest, AnswersExpectContinueAndStreamsALargeBodyOn) {
  StartBoth();
  engine_->Enqueue(Script().Json("{}"));
  const std::string body =
      absl::StrCat(R"({"model":"m1","messages":")", std::string(30 << 20, 'x'), "\"}");
  RawClient client = Connect();
  ASSERT_TRUE(client
                  .Send(absl::StrCat("POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nExpect: "
                                     "100-Continue\r\nContent-Length: ",
                                     body.size(), "\r\n\r\n"))
                  .ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 100);
  ASSERT_TRUE(client.Send(body).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  const EngineRequest request = engine_->requests().at(0);
  EXPECT_TRUE(request.body == body);
  EXPECT_THAT(request.HeaderValues("Expect"), IsEmpty());
}

TEST_F(RelayTest, StopsReadingTheUpstreamWhileTheClientDoesNotRead) {
  StartBoth();
  constexpr uint64_t kPieces = 40000;  // of 16 KiB: far more than sockets hold
  const std::string piece = absl::StrCat("data: ", std::string(16378, 'x'));
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(ContentEvent("a"))
                       .Repeat(kPieces, Script().Chunk(piece))
                       .LastChunk());
  RawClient client =
      RawClient::Connect(static_cast<uint16_t>(gateway_->port()), {.receive_buffer_bytes = 4096})
          .value();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  // Through a buffer this small it takes long enough for the engine to run ahead, if anything let
  // it.
  ASSERT_TRUE(client.ReadBytes(2 << 20).ok());
  client.Reset();
  ASSERT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_LT(engine_->clients_left()[0].pieces_sent, kPieces / 10);
}

}  // namespace
}  // namespace sluice::testing
