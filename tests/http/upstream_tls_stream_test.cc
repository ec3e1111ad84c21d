// How bytes go through TLS, and how connections end and are used again.

#include <chrono>
#include <string>
#include <thread>

#include "lib/runtime/buffer_pool.h"
#include "tests/http/upstream_tls_test.h"
#include "tests/support/eventually.h"

namespace sluice::testing {
namespace {

using UpstreamTlsStreamTest = UpstreamTlsTest;

Script CloseDelimited(const std::string& body) {
  return Script().Raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").Piece(body).Fin();
}

TEST_F(UpstreamTlsStreamTest, CarriesAnAnswerInSmallRecordsAndARequestInManyWhole) {
  const std::string answer(20'000, 'a');
  engine_->AnswerAll(Script().SseHead().Chunks(SplitBytes(answer, 100)).LastChunk());
  Serve({.record_bytes = 7});
  std::string request;
  for (int i = 0; i < 50'000; ++i) absl::StrAppend(&request, i);
  const Asked asked = Ask(Address(), "/chat", request);
  EXPECT_THAT(asked.result, Ended());
  EXPECT_EQ(asked.body, answer);
  EXPECT_EQ(engine_->requests()[0].body, request);
}

TEST_F(UpstreamTlsStreamTest, ReadsAllThatHasComeAtOnce) {
  const std::string head_bytes = "HTTP/1.1 200 OK\r\nContent-Length: 7000\r\n\r\n";
  const std::string answer(7'000, 'a');
  engine_->AnswerAll(Script().Raw(head_bytes).Gate("body").Piece(answer));
  Serve({.record_bytes = 7});
  const UpstreamAddress address = Address();
  InFiber([&] {
    const Instant deadline = std::chrono::steady_clock::now() + kPatience;
    const OutboundRequest request = {.method = "GET", .target = "/", .headers = {}, .body = {}};
    const OpenResult opened = client_.Open(address, request, deadline);
    ASSERT_NE(opened.stream, nullptr);
    ResponseHead head;
    EXPECT_EQ(opened.stream->ReadHead(deadline, &head).kind, WaitResult::kOk);
    engine_->OpenGate("body");
    EXPECT_TRUE(front_->WaitUntilDelivered(head_bytes.size() + answer.size()));
    absl::string_view piece;
    bool last = false;
    EXPECT_EQ(opened.stream->ReadBody(deadline, &piece, &last).kind, WaitResult::kOk);
    EXPECT_EQ(piece.size(), answer.size());
  });
}

TEST_F(UpstreamTlsStreamTest, LeavesNothingBehindThatDidNotFitOneRead) {
  const std::string answer(10 * runtime::BufferPool::kBufferBytes + 100, 'a');
  engine_->AnswerAll(Script().Json(answer));
  for (const size_t record_bytes : {1000, 16384}) {
    Serve({.record_bytes = record_bytes});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Ask(Address()).body.size(), answer.size());
  }
}

TEST_F(UpstreamTlsStreamTest, ReusesAConnection) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Serve({.version = version});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask(Address()).body, "hello");
    EXPECT_EQ(front_->connections(), 1u);
  }
}

TEST_F(UpstreamTlsStreamTest, SharesNoConnectionBetweenOptions) {
  Serve();
  UpstreamAddress address = Address();
  EXPECT_THAT(Ask(address).result, Ended());
  address.tls = {.insecure = true};
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_EQ(front_->connections(), 2u);
  address.uri.scheme = EndpointUri::Scheme::kHttp;
  Ask(address);
  EXPECT_EQ(front_->connections(), 3u);
}

TEST_F(UpstreamTlsStreamTest, KeepsAConnectionThatGotTicketsAndNewKeysWhileItWasIdle) {
  Serve();
  EXPECT_EQ(Ask(Address()).body, "hello");
  EXPECT_TRUE(front_->SendTickets());
  EXPECT_EQ(Ask(Address()).body, "hello");
  EXPECT_EQ(front_->connections(), 1u);
}

TEST_F(UpstreamTlsStreamTest, TakesTicketsForNoPartOfAnAnswer) {
  engine_->AnswerAll(Script().SseHead().Chunk("one").Gate("tickets").Chunk("two").LastChunk());
  Serve();
  std::thread tickets([&] {
    EXPECT_TRUE(engine_->WaitAtGate("tickets"));
    EXPECT_TRUE(front_->SendTickets());
    engine_->OpenGate("tickets");
  });
  const Asked asked = Ask(Address());
  EXPECT_THAT(asked.result, Ended());
  EXPECT_EQ(asked.body, "onetwo");
  tickets.join();
}

TEST_F(UpstreamTlsStreamTest, DropsAConnectionThatGotStrayBytesWhileItWasIdle) {
  Serve();
  EXPECT_EQ(Ask(Address()).body, "hello");
  EXPECT_TRUE(front_->SendStray());
  EXPECT_EQ(Ask(Address()).body, "hello");
  EXPECT_EQ(front_->connections(), 2u);
}

TEST_F(UpstreamTlsStreamTest, AsksAnewWhenAnIdleConnectionIsFoundClosed) {
  Serve();
  EXPECT_EQ(Ask(Address()).body, "hello");
  engine_->ResetConnections();
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
  EXPECT_EQ(Ask(Address()).body, "hello");
}

TEST_F(UpstreamTlsStreamTest, EndsABodyThatEndsWithTheConnection) {
  engine_->AnswerAll(CloseDelimited("hello"));
  Serve();
  const Asked asked = Ask(Address());
  EXPECT_THAT(asked.result, Ended());
  EXPECT_EQ(asked.body, "hello");
}

TEST_F(UpstreamTlsStreamTest, TakesACutOffConnectionForATruncatedBody) {
  engine_->AnswerAll(CloseDelimited("hello"));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Serve({.cuts_off = true, .version = version});
    const Asked asked = Ask(Address());
    EXPECT_THAT(asked.result, FailsWith(Cause::kTruncated, "without an end of TLS"));
    EXPECT_EQ(asked.body, "hello");
  }
}

TEST_F(UpstreamTlsStreamTest, TakesAFramedBodyForWholeHoweverItsConnectionEnds) {
  engine_->AnswerAll(Script().Json("hello", "200 OK", "Connection: close\r\n").Fin());
  Serve({.cuts_off = true});
  EXPECT_THAT(Ask(Address()).result, Ended());
}

TEST_F(UpstreamTlsStreamTest, CancelsTheUpstreamWhenTheStreamIsDropped) {
  engine_->AnswerAll(Script().SseHead().Chunk("one").Hold());
  Serve();
  const UpstreamAddress address = Address();
  InFiber([&] {
    const Instant deadline = std::chrono::steady_clock::now() + kPatience;
    const OutboundRequest request = {.method = "GET", .target = "/", .headers = {}, .body = {}};
    const OpenResult opened = client_.Open(address, request, deadline);
    ASSERT_NE(opened.stream, nullptr);
    ResponseHead head;
    EXPECT_EQ(opened.stream->ReadHead(deadline, &head).kind, WaitResult::kOk);
  });
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

}  // namespace
}  // namespace sluice::testing
