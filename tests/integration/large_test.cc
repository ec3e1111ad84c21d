// Large bodies, many events, and clients that do not read.

#include <string>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

class LargeTest : public CaseTest {
 protected:
  /// A client whose side of the connection holds next to nothing.
  RawClient ConnectNarrow() {
    return RawClient::Connect(static_cast<uint16_t>(gateway_->port()),
                              {.receive_buffer_bytes = 4096})
        .value();
  }
};

/// EXPECT_EQ would print all of both.
void ExpectSameBytes(const std::string& got, const std::string& want) {
  EXPECT_EQ(got.size(), want.size());
  EXPECT_TRUE(got == want);
}

TEST_F(LargeTest, PassesAnEventOf5MiB) {
  StartOne();
  const std::string event = ContentEvent(std::string(5 << 20, 'x'));
  for (const bool first : {true, false}) {
    const std::string body = absl::StrCat(first ? "" : ContentEvent("a"), event, UsageEvent(3, 1),
                                          FinishEvent(), kDoneEvent);
    const Outcome outcome = RunScript(Script().SseHead().Chunk(body).LastChunk());
    EXPECT_TRUE(outcome.response.complete());
    ExpectSameBytes(outcome.response.body, body);
    EXPECT_EQ(outcome.cause(), "completed");
    EXPECT_EQ(outcome.record().frames, first ? 4u : 5u);
    EXPECT_EQ(outcome.usage(), "3/1");
  }
}

TEST_F(LargeTest, PassesTenThousandEventsOfOneChunk) {
  StartOne();
  std::string body;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&body, "data: ", i, "\n\n");
  absl::StrAppend(&body, FinishEvent(), kDoneEvent);
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).LastChunk());
  ExpectSameBytes(outcome.response.body, body);
  EXPECT_EQ(outcome.cause(), "completed");
  EXPECT_EQ(outcome.record().frames, 10'002u);
}

TEST_F(LargeTest, B110_PassesARequestBodyOf30MiBInChunks) {
  StartOne();
  const std::string body =
      absl::StrCat(R"({"model":"m1","messages":")", std::string(30 << 20, 'x'), "\"}");
  engine_->Enqueue(Script().Json("{}"));
  RawClient client = Connect();
  ASSERT_TRUE(client
                  .Send("POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n")
                  .ok());
  for (const std::string& piece : SplitBytes(body, 1 << 20)) {
    ASSERT_TRUE(client.Send(absl::StrCat(absl::Hex(piece.size()), "\r\n", piece, "\r\n")).ok());
  }
  ASSERT_TRUE(client.Send("0\r\n\r\n").ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  ExpectSameBytes(engine_->requests().at(0).body, body);
  EXPECT_THAT(engine_->requests().at(0).HeaderValues("Content-Length"),
              ::testing::ElementsAre(absl::StrCat(body.size())));
}

TEST_F(LargeTest, B022_PassesALineThatNeverEnds) {
  StartOne();
  const std::string body = absl::StrCat("data: ", std::string(32 << 20, 'x'));
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).LastChunk());
  ExpectSameBytes(outcome.response.body,
                  absl::StrCat(body, "\n\n", ErrorEventOf(Cause::kTruncated)));
  EXPECT_EQ(outcome.record().frames, 0u);
}

TEST_F(LargeTest, B023_PassesLinesThatAreNeverAnEvent) {
  StartOne();
  std::string lines;
  for (int i = 0; i < 1'000'000; ++i) lines += "data: x\n";
  const Outcome endless = RunScript(Script().SseHead().Chunk(lines).LastChunk());
  EXPECT_TRUE(absl::StartsWith(endless.response.body, lines));
  EXPECT_EQ(endless.record().frames, 0u);
  const Outcome empty =
      RunScript(Script().SseHead().Chunk(std::string(4'000'000, '\n')).LastChunk());
  EXPECT_TRUE(absl::StartsWith(empty.response.body, std::string(4'000'000, '\n')));
  EXPECT_EQ(empty.record().frames, 0u);
}

TEST_F(LargeTest, B052_ASlowReaderGetsAllOfItInTheEnd) {
  StartOne();
  constexpr uint64_t kPieces = 1200;
  const std::string piece = ContentEvent(std::string(16 << 10, 'x'));
  engine_->Enqueue(Script()
                       .SseHead()
                       .Repeat(kPieces, Script().Chunk(piece))
                       .Chunk(FinishEvent())
                       .Chunk(kDoneEvent)
                       .LastChunk());
  RawClient client = ConnectNarrow();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  std::string body;
  while (true) {
    const std::string chunk = client.ReadChunk().value_or("");
    if (chunk.empty()) break;
    body += chunk;
  }
  std::string want;
  for (uint64_t i = 0; i < kPieces; ++i) want += piece;
  ExpectSameBytes(body, absl::StrCat(want, FinishEvent(), kDoneEvent));
  EXPECT_EQ(Finished().record.cause, Cause::kCompleted);
}

TEST_F(LargeTest, B091_AClientThatTakesNothingIsGivenUp) {
  StartOne(
      [](config::Config& config) { config.pools[0].timeouts.client_stall = milliseconds(100); });
  constexpr uint64_t kPieces = 40000;  // of 16 KiB: far more than sockets hold
  engine_->Enqueue(
      Script().SseHead().Repeat(kPieces, Script().Chunk(ContentEvent(std::string(16 << 10, 'x')))));
  RawClient client = ConnectNarrow();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  const FinishedExchange finished = Finished();
  EXPECT_EQ(finished.record.cause, Cause::kClientTooSlow);
  ASSERT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_LT(engine_->clients_left()[0].pieces_sent, kPieces / 10) << "its reads stopped too";
  EXPECT_LT(finished.record.bytes_from_upstream, uint64_t{64} << 20);
  EXPECT_EQ(finished.done, 0);
}

TEST_F(LargeTest, AClientThatTakesNothingOfAnErrorIsGivenUpToo) {
  StartOne(
      [](config::Config& config) { config.pools[0].timeouts.client_stall = milliseconds(100); });
  engine_->Enqueue(Script().Json(std::string(64 << 20, 'x'), "500 Large"));
  RawClient client = ConnectNarrow();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  EXPECT_EQ(Finished().record.cause, Cause::kClientTooSlow);
}

}  // namespace
}  // namespace sluice::testing
