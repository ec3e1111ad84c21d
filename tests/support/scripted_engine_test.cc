#include "tests/support/scripted_engine.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/chat_events.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ScriptedEngineTest : public ::testing::Test {
 protected:
  RawClient Connect(RawClient::Options options = {}) {
    return RawClient::Connect(engine_->port(), options).value();
  }
  /// Sends the default request on a connection of its own.
  RawClient Ask() {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(ChatRequest()).ok());
    return client;
  }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
};

TEST_F(ScriptedEngineTest, StreamsChunksAsTheScriptCutsThem) {
  engine_->AnswerAll(Script()
                         .SseHead("X-A: 1\r\nX-A: 2\r\n")
                         .Chunk(ContentEvent("a"))
                         .Pause(std::chrono::milliseconds(1))
                         .Chunk(kDoneEvent)
                         .LastChunk("X-T: 1\r\n"));
  RawClient client = Ask();
  const RawResponse response = client.ReadResponse().value();
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.HeaderValues("x-a"), ElementsAre("1", "2"));
  EXPECT_THAT(response.chunks, ElementsAre(ContentEvent("a"), kDoneEvent));
  EXPECT_EQ(response.body, absl::StrCat(ContentEvent("a"), kDoneEvent));
  EXPECT_EQ(response.trailers, "X-T: 1\r\n");
  EXPECT_TRUE(response.complete());
  EXPECT_TRUE(engine_->WaitForAnswered(1));
  EXPECT_THAT(engine_->clients_left(), IsEmpty());
}

TEST_F(ScriptedEngineTest, RemembersRequestsVerbatimAndByConnection) {
  engine_->AnswerAll(Script().Json("{}"));
  RawClient first = Ask();
  EXPECT_EQ(first.ReadResponse()->body, "{}");
  EXPECT_TRUE(first.Send(GetRequest("/v1/models?x=%2F")).ok());
  EXPECT_EQ(first.ReadResponse()->body, "{}");
  RawClient second = Ask();
  EXPECT_EQ(second.ReadResponse()->body, "{}");

  const std::vector<EngineRequest> requests = engine_->requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(absl::StrCat(requests[0].head, requests[0].body), ChatRequest());
  EXPECT_EQ(requests[1].head, GetRequest("/v1/models?x=%2F"));
  EXPECT_EQ(requests[0].connection, requests[1].connection);
  EXPECT_NE(requests[0].connection, requests[2].connection);
  EXPECT_LE(requests[0].at, requests[1].at);
}

TEST_F(ScriptedEngineTest, PrefersQueuedScriptsOverTheResponder) {
  engine_->SetResponder([](const EngineRequest& request) {
    return Script().Json(absl::StrCat("model ", request.model()));
  });
  engine_->Enqueue(Script().Json("queued", "503 Busy", "Retry-After: 1\r\n"));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest() + ChatRequest()).ok());
  const RawResponse queued = client.ReadResponse().value();
  EXPECT_EQ(queued.status, 503);
  EXPECT_EQ(queued.body, "queued");
  EXPECT_EQ(client.ReadResponse()->body, "model m1");
}

TEST_F(ScriptedEngineTest, AnswersWithoutAScriptBy500) {
  RawClient client = Ask();
  EXPECT_EQ(client.ReadResponse()->status, 500);
}

TEST_F(ScriptedEngineTest, HoldsAtAGateUntilTheTestOpensIt) {
  engine_->AnswerAll(Script().SseHead().Chunk("one").Gate("second").Chunk("two").LastChunk());
  RawClient client = Ask();
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(*client.ReadChunk(), "one");
  ASSERT_TRUE(engine_->WaitAtGate("second"));
  EXPECT_EQ(engine_->counts().answered, 0u);
  EXPECT_EQ(client.unread(), "");
  engine_->OpenGate("second");
  EXPECT_EQ(*client.ReadChunk(), "two");
  EXPECT_EQ(*client.ReadChunk(), "");
}

TEST_F(ScriptedEngineTest, ReportsAClientThatLeavesWhileItHolds) {
  engine_->AnswerAll(Script().SseHead().Chunk("a").Chunk("b").Hold().Chunk("c"));
  for (const bool reset : {false, true}) {
    RawClient client = Ask();
    ASSERT_TRUE(client.ReadHead().ok());
    ASSERT_TRUE(client.ReadChunk().ok());
    ASSERT_TRUE(client.ReadChunk().ok());
    ASSERT_TRUE(engine_->WaitAtGate(""));
    reset ? client.Reset() : client.HalfClose();
    ASSERT_TRUE(engine_->WaitForCancelled(reset ? 2 : 1));
    const ClientLeft left = engine_->clients_left().back();
    EXPECT_EQ(left.reset, reset);
    EXPECT_EQ(left.pieces_sent, 2u);
    EXPECT_EQ(left.pieces_total, 3u);
    EXPECT_EQ(left.connection, engine_->requests()[left.request].connection);
  }
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
}

TEST_F(ScriptedEngineTest, CountsAClientThatLeavesBetweenRequestsAsNoCancel) {
  engine_->AnswerAll(Script().Json("{}"));
  {
    RawClient client = Ask();
    ASSERT_TRUE(client.ReadResponse().ok());
  }
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
  EXPECT_EQ(engine_->counts().cancelled, 0u);
}

TEST_F(ScriptedEngineTest, RunsLoopsWithinLoops) {
  const Script inner = Script().Repeat(3, Script().Chunk("x"));
  engine_->AnswerAll(Script().SseHead().Repeat(2, inner).LastChunk());
  RawClient client = Ask();
  EXPECT_EQ(client.ReadResponse()->body, "xxxxxx");
}

TEST_F(ScriptedEngineTest, GivesOthersATurnWhileAnAnswerNeverWaits) {
  engine_->Enqueue(Script().Repeat(kForever, Script().Raw("")));
  engine_->Enqueue(Script().Json("{}"));
  RawClient endless = Ask();
  ASSERT_TRUE(engine_->WaitForRequests(1));
  RawClient other = Ask();
  EXPECT_TRUE(other.ReadResponse().ok());
}

TEST_F(ScriptedEngineTest, NoticesAClientThatLeavesAnEndlessStream) {
  engine_->AnswerAll(Script().SseHead().Repeat(kForever, Script().Chunk(std::string(10000, 'x'))));
  RawClient client = Ask();
  ASSERT_TRUE(client.ReadHead().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.ReadChunk().ok());
  client.Close();
  ASSERT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_GE(engine_->clients_left()[0].pieces_sent, 3u);
  EXPECT_EQ(engine_->clients_left()[0].pieces_total, std::nullopt);
}

TEST_F(ScriptedEngineTest, StopsSendingToAClientThatDoesNotRead) {
  constexpr uint64_t kPieces = 2000;
  const std::string piece(20000, 'x');
  engine_->AnswerAll(Script().SseHead().Repeat(kPieces, Script().Chunk(piece)).LastChunk());
  RawClient client = Connect({.receive_buffer_bytes = 8192});
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  // Another client's answer comes from the same thread, so that thread is not stuck in the first
  // one's.
  engine_->Enqueue(Script().Json("{}"));
  ASSERT_TRUE(engine_->WaitForRequests(1));
  RawClient other = Ask();
  ASSERT_TRUE(other.ReadResponse().ok());
  EXPECT_TRUE(client.ReadResponse()->complete());
  EXPECT_TRUE(engine_->WaitForAnswered(2));
}

struct BrokenEnd {
  const char* name;
  Script script;
  RawResponse::End end;
  const char* body;
};

class BrokenEndTest : public ScriptedEngineTest, public ::testing::WithParamInterface<BrokenEnd> {};

TEST_P(BrokenEndTest, ReachesTheClientAsScripted) {
  engine_->AnswerAll(GetParam().script);
  RawClient client = Ask();
  const RawResponse response = client.ReadResponse().value();
  EXPECT_EQ(response.end, GetParam().end);
  EXPECT_EQ(response.body, GetParam().body);
  // The engine ended it, not the client.
  EXPECT_TRUE(engine_->WaitForAnswered(1));
  EXPECT_EQ(engine_->counts().cancelled, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenEndTest,
    ::testing::Values(
        BrokenEnd{"NoLastChunk", Script().SseHead().Chunk("a").Fin(), RawResponse::End::kTruncated,
                  "a"},
        BrokenEnd{"HalfChunk", Script().SseHead().Chunk("a").HalfChunk("bc", 9).Fin(),
                  RawResponse::End::kTruncated, "a"},
        BrokenEnd{"BadChunkSize", Script().SseHead().Chunk("a").Piece("zz\r\n").Fin(),
                  RawResponse::End::kBadFraming, "a"},
        BrokenEnd{"ChunkLongerThanItsSize",
                  Script().SseHead().Chunk("a").Piece("1\r\nbcd\r\n").Fin(),
                  RawResponse::End::kBadFraming, "a"},
        BrokenEnd{"ShortLength",
                  Script().Raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").Piece("abc").Fin(),
                  RawResponse::End::kTruncated, "abc"},
        BrokenEnd{"CloseDelimited", Script().Raw("HTTP/1.0 200 OK\r\n\r\n").Piece("abc").Fin(),
                  RawResponse::End::kComplete, "abc"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_F(ScriptedEngineTest, ResetsInTheMiddle) {
  engine_->AnswerAll(Script().SseHead().Chunk("a").Gate("reset").Reset());
  RawClient client = Ask();
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(*client.ReadChunk(), "a");
  engine_->OpenGate("reset");  // not before "a" was read: an RST overtakes what is still on its way
  EXPECT_TRUE(absl::IsAborted(client.ReadChunk().status()));
  EXPECT_TRUE(engine_->WaitForAnswered(1));
}

TEST_F(ScriptedEngineTest, ResetsBeforeAnyHead) {
  engine_->AnswerAll(Script().Reset());
  RawClient client = Ask();
  EXPECT_TRUE(absl::IsAborted(client.ReadResponse().status()));
}

TEST_F(ScriptedEngineTest, SendsStrayBytesAfterTheEnd) {
  engine_->AnswerAll(Script().SseHead().Chunk("a").LastChunk().Raw("5\r\nhello"));
  RawClient client = Ask();
  EXPECT_TRUE(client.ReadResponse()->complete());
  EXPECT_EQ(*client.ReadBytes(8), "5\r\nhello");
}

TEST_F(ScriptedEngineTest, ResetsAllConnectionsWhenTold) {
  engine_->AnswerAll(Script().Hold());
  RawClient busy = Ask();
  ASSERT_TRUE(engine_->WaitAtGate(""));
  engine_->ResetConnections();
  EXPECT_TRUE(absl::IsAborted(busy.ReadToEnd()));
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
  EXPECT_EQ(engine_->counts().cancelled, 0u);
}

TEST_F(ScriptedEngineTest, ClosesIdleConnectionsAfterKeepAlive) {
  ScriptedEngine::Options options;
  options.keep_alive = std::chrono::milliseconds(1);
  engine_ = ScriptedEngine::Start(std::move(options)).value();
  engine_->AnswerAll(Script().Json("{}"));
  RawClient client = Ask();
  EXPECT_EQ(client.ReadResponse()->body, "{}");
  EXPECT_TRUE(client.ReadToEnd().ok());
}

TEST_F(ScriptedEngineTest, CarriesALargeBodyBothWays) {
  const std::string body(30 << 20, 'b');
  engine_->AnswerAll(Script().Json(body));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(PostRequest("/", body)).ok());
  EXPECT_TRUE(client.ReadResponse()->body == body);
  EXPECT_TRUE(engine_->requests()[0].body == body);
}

TEST_F(ScriptedEngineTest, HoldsTwoThousandSilentStreamsAtOnce) {
  RaiseFdLimit();
  constexpr int kStreams = 2000;
  engine_->AnswerAll(Script().SseHead().Gate("go").Chunk("x").LastChunk());
  std::vector<RawClient> clients;
  for (int i = 0; i < kStreams; ++i) clients.push_back(Ask());
  ASSERT_TRUE(engine_->WaitAtGate("go", kStreams));
  EXPECT_EQ(engine_->counts().open, static_cast<uint64_t>(kStreams));
  engine_->OpenGate("go");
  for (RawClient& client : clients) EXPECT_TRUE(client.ReadResponse()->complete());
  EXPECT_TRUE(engine_->WaitForAnswered(kStreams));
  clients.clear();
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
}

TEST_F(ScriptedEngineTest, LogsALinePerRequestAndPerClientThatLeft) {
  Mutex mutex;
  std::vector<std::string> lines;
  ScriptedEngine::Options options;
  options.log = [&](absl::string_view line) {
    MutexLock lock(&mutex);
    lines.emplace_back(line);
  };
  engine_ = ScriptedEngine::Start(std::move(options)).value();
  engine_->Enqueue(Script().SseHead().Chunk("a").Hold().Chunk("b"));
  {
    RawClient client = Ask();
    ASSERT_TRUE(client.ReadHead().ok());
    ASSERT_TRUE(engine_->WaitAtGate(""));
    client.Reset();
  }
  ASSERT_TRUE(engine_->WaitForCancelled(1));
  engine_.reset();  // it logs to `lines`
  EXPECT_THAT(
      lines,
      ElementsAre("request 1 on connection 1: POST /v1/chat/completions model=m1 stream=true",
                  "request 1: client left after 1 of 2 pieces (RST)"));
}

TEST_F(ScriptedEngineTest, RefusesATakenPort) {
  ScriptedEngine::Options options;
  options.port = engine_->port();
  EXPECT_TRUE(absl::IsUnavailable(ScriptedEngine::Start(std::move(options)).status()));
}

TEST(RefusingPortTest, RefusesConnections) {
  const RefusingPort port;
  EXPECT_TRUE(absl::IsUnavailable(RawClient::Connect(port.port()).status()));
}

}  // namespace
}  // namespace sluice::testing
