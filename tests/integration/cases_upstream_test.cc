// Cases on the framing of HTTP from the upstream (ids B025 to B042).

#include <string>
#include <vector>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class UpstreamCases : public CaseTest {
 protected:
  /// Sends a request, waits until the client has `passed` of the body, opens the gate "break", and
  /// reads the rest.
  Outcome RunUntilBreak(Script script, absl::string_view passed,
                        const std::string& request = ChatRequest()) {
    engine_->Enqueue(std::move(script));
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(request).ok());
    EXPECT_TRUE(
        client
            .ReadUntil([&](absl::string_view unread) { return absl::StrContains(unread, passed); })
            .ok());
    engine_->OpenGate("break");
    Outcome outcome;
    outcome.response = client.ReadResponse().value_or(RawResponse());
    outcome.finished = Finished();
    return outcome;
  }
};

const std::string kGood = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);

Script Good() { return Script().SseHead().Chunk(kGood).LastChunk(); }

TEST_F(UpstreamCases, B025_AStreamsLengthIsNotPassedOn) {
  StartOne();
  const Outcome outcome = RunUntilBreak(
      Script()
          .Raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 300\r\n\r\n")
          .Piece(ContentEvent("a"))
          .Gate("break")
          .Reset(),
      ContentEvent("a"));
  EXPECT_THAT(outcome.response.HeaderValues("Content-Length"), IsEmpty());
  EXPECT_THAT(outcome.response.HeaderValues("Transfer-Encoding"), ElementsAre("chunked"));
  ExpectBrokenOff(outcome, ContentEvent("a"), Cause::kUpstreamReset);
}

TEST_F(UpstreamCases, B025_AStreamShorterThanItsLengthIsBrokenOff) {
  StartOne();
  const Outcome outcome = RunScript(
      Script()
          .Raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 300\r\n\r\n")
          .Piece(ContentEvent("a"))
          .Fin());
  ExpectBrokenOff(outcome, ContentEvent("a"), Cause::kTruncated);
}

/// Heads that frame their body in no way, or in two.
struct BadFraming {
  std::string name;
  std::string headers;

  friend void PrintTo(const BadFraming& value, std::ostream* out) { *out << value.headers; }
};

class BadUpstreamFraming : public UpstreamCases, public ::testing::WithParamInterface<BadFraming> {
 protected:
  static Script Answer() {
    return Script()
        .Raw(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n",
                          GetParam().headers, "\r\n"))
        .Chunk(kGood)
        .LastChunk();
  }
};

TEST_P(BadUpstreamFraming, IsAnErrorAndTheConnectionIsClosed) {
  StartOne();
  ExpectError(RunScript(Answer()), 502, "upstream_protocol");
  ExpectNoReuse();
}

TEST_P(BadUpstreamFraming, SendsTheRequestElsewhere) {
  StartTwo();
  engine_->Enqueue(Answer());
  second_->Enqueue(Good());
  const Outcome outcome = Run();
  ExpectPassed(outcome, kGood);
  EXPECT_EQ(outcome.attempts(), "upstream_protocol -");
}

INSTANTIATE_TEST_SUITE_P(
    , BadUpstreamFraming,
    ::testing::Values(BadFraming{"B026_ChunkedAndALength",
                                 "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"},
                      BadFraming{"B033_TwoLengths", "Content-Length: 5\r\nContent-Length: 6\r\n"},
                      BadFraming{"B033_NegativeLength", "Content-Length: -1\r\n"},
                      BadFraming{"B033_ExponentLength", "Content-Length: 1e3\r\n"},
                      BadFraming{"B033_GzipChunked", "Transfer-Encoding: gzip, chunked\r\n"},
                      BadFraming{"B033_LikeChunked", "Transfer-Encoding: xchunked\r\n"},
                      BadFraming{"B033_ChunkedTwice",
                                 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(UpstreamCases, B027_AnEndWithoutTheLastChunkIsNoNormalEnd) {
  StartOne();
  const Outcome outcome =
      RunScript(Script().SseHead().Chunk(ContentEvent("a")).Chunk(UsageEvent(3, 1)).Fin());
  ExpectBrokenOff(outcome, absl::StrCat(ContentEvent("a"), UsageEvent(3, 1)), Cause::kTruncated);
  EXPECT_EQ(outcome.record().provenance, Provenance::kPartial);
}

TEST_F(UpstreamCases, B029_ACutJsonBodyIsNotEndedAsIfWhole) {
  StartOne();
  const Outcome outcome =
      RunUntilBreak(Script()
                        .Raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n")
                        .HalfChunk("{\"choices\"", 100)
                        .Gate("break")
                        .Fin(),
                    "{\"choices\"", ChatRequest(false));
  EXPECT_FALSE(outcome.response.complete());
  EXPECT_EQ(outcome.response.body, "{\"choices\"");
  EXPECT_EQ(outcome.cause(), "truncated");
}

TEST_F(UpstreamCases, B029_AnAnswerCutInItsHeadIsAnError) {
  StartOne();
  ExpectError(RunScript(Script().Raw("HTTP/1.1 200 OK\r\nContent-Ty").Fin(), ChatRequest(false)),
              502, "truncated");
}

TEST_F(UpstreamCases, B030_AnHttp10StreamEndsWithItsConnection) {
  StartOne();
  const Script head = Script().Raw("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
  ExpectPassed(RunScript(Script(head).Piece(kGood).Fin()), kGood);
  ExpectBrokenOff(RunScript(Script(head).Piece(ContentEvent("a")).Fin()), ContentEvent("a"),
                  Cause::kTruncated);
  EXPECT_EQ(engine_->counts().accepted, 2u);
}

TEST_F(UpstreamCases, B035_InterimAnswersStayBehind) {
  StartOne();
  const Outcome outcome = RunScript(
      Script()
          .Raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
          .SseHead()
          .Chunk(kGood)
          .LastChunk());
  ExpectPassed(outcome, kGood);
  EXPECT_THAT(outcome.response.HeaderValues("Link"), IsEmpty());
}

TEST_F(UpstreamCases, B036_InterimAnswersWithoutEndAreAnError) {
  StartOne();
  std::string flood;
  for (int i = 0; i < 50; ++i) flood += "HTTP/1.1 103 Early Hints\r\n\r\n";
  ExpectError(RunScript(Script().Raw(flood).Hold()), 502, "upstream_protocol");
  ExpectNoReuse();
}

TEST_F(UpstreamCases, B036_SwitchingProtocolsUnaskedIsAnError) {
  StartOne();
  ExpectError(
      RunScript(
          Script().Raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n").Hold()),
      502, "upstream_protocol");
  ExpectNoReuse();
}

TEST_F(UpstreamCases, B036_AnEndAfterAnInterimAnswerIsAnError) {
  StartOne();
  ExpectError(RunScript(Script().Raw("HTTP/1.1 103 Early Hints\r\n\r\n").Fin()), 502, "truncated");
}

TEST_F(UpstreamCases, B039_AnEncodedStreamPassesUnobserved) {
  StartOne();
  const std::string coded = "\x1f\x8b\x08 compressed data: [DONE]\n\n";
  const Outcome outcome = RunScript(
      Script().SseHead("Content-Encoding: gzip\r\n").Chunks(SplitBytes(coded, 1)).LastChunk(),
      ChatRequest(true, "Accept-Encoding: gzip\r\n"));
  EXPECT_THAT(engine_->requests().at(0).HeaderValues("Accept-Encoding"), ElementsAre("identity"));
  EXPECT_EQ(outcome.response.body, coded);
  EXPECT_THAT(outcome.response.HeaderValues("Content-Encoding"), ElementsAre("gzip"));
  EXPECT_EQ(outcome.cause(), "completed");
  EXPECT_EQ(outcome.record().provenance, Provenance::kAbsent);
  EXPECT_EQ(outcome.usage(), "none");
}

TEST_F(UpstreamCases, B041_AnEncodedJsonBodyKeepsItsLabelAndLength) {
  StartOne();
  const std::string coded("\x1f\x8b\x08\x00\xff compressed", 16);
  const Outcome outcome =
      RunScript(Script().Json(coded, "200 OK", "Content-Encoding: gzip\r\n"), ChatRequest(false));
  EXPECT_EQ(outcome.response.body, coded);
  EXPECT_THAT(outcome.response.HeaderValues("Content-Encoding"), ElementsAre("gzip"));
  EXPECT_THAT(outcome.response.HeaderValues("Content-Length"), ElementsAre("16"));
}

TEST_F(UpstreamCases, B042_HopByHopHeadersAndTrailersStayBehind) {
  StartOne();
  const Outcome outcome = RunScript(
      Script()
          .Raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
               "Chunked\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\n"
               "Proxy-Authenticate: x\r\nTrailer: X-T\r\n\r\n")
          .Chunk(kGood)
          .LastChunk("X-T: 1\r\n"));
  ExpectPassed(outcome, kGood);
  EXPECT_THAT(outcome.response.HeaderValues("Transfer-Encoding"), ElementsAre("chunked"));
  for (const char* name : {"X-Hop", "Keep-Alive", "Proxy-Authenticate", "Trailer"}) {
    EXPECT_THAT(outcome.response.HeaderValues(name), IsEmpty()) << name;
  }
  EXPECT_EQ(outcome.response.trailers, "");
}

}  // namespace
}  // namespace sluice::testing
