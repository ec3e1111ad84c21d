#include <string>

#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "tests/relay/relay_test.h"

// A stream that breaks after the commit ends with one error event in the client's dialect, never
// looks complete and is never retried (ruling 6).

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StreamBreakTest : public RelayTest {
 protected:
  StreamBreakTest() { Configure({"a", "b"}); }

  static std::string Ending(Cause cause, dialect::Dialect dialect = dialect::Dialect::kOpenAiChat) {
    return dialect::ErrorEvent(dialect, cause, InfoOf(cause).message);
  }

  void ExpectBroken(Cause expected, const std::string& body) {
    EXPECT_EQ(Run(), Answer::Step::kEnd);
    EXPECT_EQ(sink_.body(), body);
    EXPECT_EQ(finished().bytes_to_client, body.size());
    EXPECT_EQ(cause(), expected);
    EXPECT_EQ(observer_.done(), 0);
    EXPECT_EQ(transport_.sent().size(), 1u) << "retried after the commit";
  }
};

TEST_F(StreamBreakTest, ResetBetweenEventsEndsInDialect) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Fail(Cause::kUpstreamReset, "peer reset"));
  ExpectBroken(Cause::kUpstreamReset, absl::StrCat(kHello, Ending(Cause::kUpstreamReset)));
  EXPECT_THAT(sink_.body(), Not(HasSubstr("[DONE]")));
  EXPECT_EQ(finished().detail, "peer reset");
  EXPECT_FALSE(transport_.sent()[0]->read_to_end) << "a broken connection must not be used again";
}

TEST_F(StreamBreakTest, ResetInsideAnEventIsParted) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece("data: {\"cho")
                      .Fail(Cause::kUpstreamReset));
  ExpectBroken(Cause::kUpstreamReset,
               absl::StrCat(kHello, "data: {\"cho", "\n\n", Ending(Cause::kUpstreamReset)));
}

TEST_F(StreamBreakTest, ResetAfterALineOfAnEventIsParted) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece("data: {}\n")
                      .Fail(Cause::kUpstreamReset));
  ExpectBroken(Cause::kUpstreamReset,
               absl::StrCat(kHello, "data: {}\n", "\n\n", Ending(Cause::kUpstreamReset)));
}

TEST_F(StreamBreakTest, ResetAfterACommentIsNotParted) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(": ping\n")
                      .Fail(Cause::kUpstreamReset));
  ExpectBroken(Cause::kUpstreamReset,
               absl::StrCat(kHello, ": ping\n", Ending(Cause::kUpstreamReset)));
}

TEST_F(StreamBreakTest, ShortOrMalformedFramingEndsInDialect) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Fail(Cause::kUpstreamProtocol));
  ExpectBroken(Cause::kUpstreamProtocol, absl::StrCat(kHello, Ending(Cause::kUpstreamProtocol)));
}

TEST_F(StreamBreakTest, EndWithoutAnEndMarkerEndsInDialect) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).End());
  ExpectBroken(Cause::kTruncated, absl::StrCat(kHello, Ending(Cause::kTruncated)));
}

TEST_F(StreamBreakTest, EndAfterTheFinishIsCleanWithoutAnEndMarker) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Piece(kStop).End());
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop));
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(observer_.done(), 1);
}

TEST_F(StreamBreakTest, SilenceEndsInDialect) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Silence());
  ExpectBroken(Cause::kIdleTimeout, absl::StrCat(kHello, Ending(Cause::kIdleTimeout)));
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(60));
}

TEST_F(StreamBreakTest, EachPieceResetsTheIdleLimit) {
  Script script;
  script.Head(200, kEventStreamType);
  for (int i = 0; i < 5; ++i) script.Piece(kHello).Silence(seconds(59));
  transport_.Play(script.Piece(kStop).Piece(kDone).End());
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(StreamBreakTest, CommentsDoNotResetTheFrameLimit) {
  Script script;
  script.Head(200, kEventStreamType).Piece(kHello);
  for (int i = 0; i < 40; ++i) script.Silence(seconds(10)).Piece(": ping\n\n");
  transport_.Play(script);
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(cause(), Cause::kFrameIdleTimeout);
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(300));
  EXPECT_THAT(sink_.body(), ::testing::EndsWith(Ending(Cause::kFrameIdleTimeout)));
}

TEST_F(StreamBreakTest, AnthropicStreamEndsInItsDialect) {
  const testing::Script script = Script()
                                     .Head(200, kEventStreamType)
                                     .Piece("event: ping\ndata: {\"type\":\"ping\"}\n\n")
                                     .Fail(Cause::kUpstreamReset);
  transport_.Play(script);
  Request request = ChatRequest();
  request.target = "/v1/messages";
  EXPECT_EQ(Run(request), Answer::Step::kEnd);
  EXPECT_THAT(sink_.body(), ::testing::EndsWith(Ending(Cause::kUpstreamReset,
                                                       dialect::Dialect::kAnthropicMessages)));
  EXPECT_THAT(sink_.body(), HasSubstr("event: error\n"));
  EXPECT_THAT(sink_.body(), Not(HasSubstr("message_stop")));
}

TEST_F(StreamBreakTest, UpstreamsOwnErrorFramePassesUntouched) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Piece(kErrorFrame).End());
  ExpectBroken(Cause::kUpstreamErrorFrame, absl::StrCat(kHello, kErrorFrame));
}

TEST_F(StreamBreakTest, NothingIsAddedAfterTheUpstreamsOwnError) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kErrorFrame)
                      .Fail(Cause::kUpstreamReset));
  ExpectBroken(Cause::kUpstreamErrorFrame, absl::StrCat(kHello, kErrorFrame));
}

TEST_F(StreamBreakTest, NothingIsAddedAfterTheEndMarker) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .Fail(Cause::kUpstreamReset));
  ExpectBroken(Cause::kUpstreamReset, absl::StrCat(kHello, kStop, kDone));
}

TEST_F(StreamBreakTest, BodyLeftOpenAfterTheEndMarkerIsEnded) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Piece(kStop).Piece(kDone).Silence());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(2));
  EXPECT_FALSE(transport_.sent()[0]->read_to_end) << "the connection must not be used again";
}

TEST_F(StreamBreakTest, UsageOfABrokenStreamIsPartial) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Piece(kUsage).Fail(Cause::kUpstreamReset));
  Run();
  EXPECT_EQ(finished().usage, Tokens(5, 2, 7));
  EXPECT_EQ(finished().provenance, Provenance::kPartial);
}

TEST_F(StreamBreakTest, ABodyThatCannotCarryAnErrorIsAborted) {
  transport_.Play(Script().Head(200, "application/json").Piece("{\"id\":").Fail(Cause::kTruncated));
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_EQ(sink_.body(), "{\"id\":");
  EXPECT_EQ(cause(), Cause::kTruncated);
}

TEST_F(StreamBreakTest, AnEncodedStreamIsAborted) {
  HeaderList headers;
  headers.Add("Content-Encoding", "gzip");
  transport_.Play(
      Script().Head(200, kEventStreamType, headers).Piece("\x1f\x8b").Fail(Cause::kUpstreamReset));
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_EQ(sink_.body(), "\x1f\x8b");
}

TEST_F(StreamBreakTest, AnEventStreamGoesOutWithoutALength) {
  // The upstream promises a length; the ending would not fit into it.
  HeaderList headers;
  headers.Add("Content-Length", "1000");
  transport_.Play(
      Script().Head(200, kEventStreamType, headers).Piece(kHello).Fail(Cause::kTruncated));
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_EQ(answer->body(), Answer::Body::kOpen);
  Drive(*answer);
  EXPECT_EQ(AnswerHeader("Content-Length"), nullptr);
}

}  // namespace
}  // namespace sluice::relay
