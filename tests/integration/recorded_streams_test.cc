// The recorded streams through real sockets, at several sizes of write.

#include "tests/support/recorded_streams.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

std::string PathOf(const std::string& dialect) {
  if (dialect == "openai.chat") return "/v1/chat/completions";
  if (dialect == "openai.completions") return "/v1/completions";
  if (dialect == "openai.responses") return "/v1/responses";
  if (dialect == "anthropic.messages") return "/v1/messages";
  return "/other";
}

Cause ExpectedCause(const RecordedStream& stream) {
  if (stream.http_status >= 400) return Cause::kUpstreamStatus;
  if (stream.terminal == "error_event") return Cause::kUpstreamErrorFrame;
  return stream.terminal == "truncated" ? Cause::kTruncated : Cause::kCompleted;
}

/// What may follow the body: nothing, or an error event where it was cut off.
void ExpectEnding(const RecordedStream& stream, const std::string& added) {
  if (!stream.is_event_stream || stream.terminal != "truncated") {
    EXPECT_EQ(added, "");
    return;
  }
  const std::string ending =
      dialect::ErrorEvent(dialect::DialectOfPath(PathOf(stream.dialect)), Cause::kTruncated,
                          InfoOf(Cause::kTruncated).message);
  EXPECT_TRUE(added == ending || added == "\n\n" + ending) << added;
}

class RecordedStreamsTest : public CaseTest, public ::testing::WithParamInterface<size_t> {
 protected:
  /// Writes of this size; a body that would be too many of them is left out.
  static constexpr size_t kMostPieces = 3000;

  static Script AnswerOf(const RecordedStream& stream) {
    Script script = Script().Raw(absl::StrCat("HTTP/1.1 ", stream.http_status,
                                              " Recorded\r\nContent-Type: ", stream.content_type,
                                              "\r\nTransfer-Encoding: chunked\r\n\r\n"));
    return script.Chunks(SplitBytes(stream.body, GetParam())).LastChunk();
  }
  static std::string RequestOf(const RecordedStream& stream) {
    return PostRequest(PathOf(stream.dialect), R"({"model":"m1","stream":true})");
  }
};

TEST_P(RecordedStreamsTest, PassAsExpected) {
  // Committed at the head, so that what no hold would let through passes too.
  StartOne([](config::Config& config) { config.pools[0].commit = config::CommitPoint::kOnHead; });
  size_t passed = 0;
  for (const RecordedStream& stream : RecordedStreams()) {
    if (stream.body.size() / GetParam() > kMostPieces) continue;
    SCOPED_TRACE(stream.name);
    ++passed;
    const Outcome outcome = RunScript(AnswerOf(stream), RequestOf(stream));
    EXPECT_EQ(outcome.response.status, stream.http_status);
    const std::string& body = outcome.response.body;
    EXPECT_TRUE(outcome.response.complete());
    EXPECT_TRUE(absl::StartsWith(body, stream.body)) << "the same bytes";
    ExpectEnding(stream, body.substr(std::min(body.size(), stream.body.size())));
    EXPECT_EQ(outcome.record().cause, ExpectedCause(stream));
    EXPECT_EQ(outcome.record().frames, stream.events.size());
    EXPECT_EQ(outcome.record().usage, stream.usage);
    EXPECT_EQ(outcome.record().stamps.first_frame.has_value(),
              stream.first_frame_index.has_value());
    if (stream.is_event_stream) {
      EXPECT_EQ(outcome.record().finish_reason, stream.finish_reason);
    }
    if (stream.on_done.has_value()) {
      EXPECT_EQ(outcome.finished.done, *stream.on_done ? 1 : 0);
    }
  }
  EXPECT_GE(passed, 80u);
}

TEST_P(RecordedStreamsTest, AreTriedElsewhereWhenTheyBeginWithNothingGood) {
  StartTwo();
  const std::string good = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);
  second_->AnswerAll(Script().SseHead().Chunk(good).LastChunk());
  for (const RecordedStream& stream : RecordedStreams()) {
    if (!stream.is_event_stream || !stream.failover_before_commit) continue;
    SCOPED_TRACE(stream.name);
    engine_->AnswerAll(AnswerOf(stream));
    const std::string request = PostRequest("/v1/chat/completions", R"({"model":"m1"})");
    // Whichever of the two is asked first.
    EXPECT_EQ(Run(request).response.body, good);
    EXPECT_EQ(Run(request).response.body, good);
  }
  EXPECT_GT(engine_->counts().requests, 0u);
}

INSTANTIATE_TEST_SUITE_P(AtWrites, RecordedStreamsTest, ::testing::Values(1, 7, 64, 65536),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice::testing
