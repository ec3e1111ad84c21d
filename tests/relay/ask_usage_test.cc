#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "lib/dialect/dialect.h"
#include "tests/relay/relay_test.h"
#include "tests/support/recorded_streams.h"

// `ask_usage`: what goes upstream, and what of the answer is hidden from a client who did not ask.

namespace sluice::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RecordedStream;

constexpr absl::string_view kBody = R"({ "model":"m","stream":true ,"messages":[]})";
constexpr absl::string_view kAskingBody =
    R"({"stream_options":{"include_usage":true}, "model":"m","stream":true ,"messages":[]})";
constexpr absl::string_view kNullUsage =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n";
constexpr absl::string_view kUsageBesideAChoice =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n";

class AskUsageTest : public RelayTest {
 protected:
  AskUsageTest() {
    Configure({"a"}, [](config::Pool& pool) { pool.ask_usage = true; });
  }

  static Request RequestOf(absl::string_view body,
                           absl::string_view target = "/v1/chat/completions") {
    Request request = ChatRequest();
    request.target = std::string(target);
    request.body = std::string(body);
    return request;
  }

  /// One exchange of several: the body that its client gets.
  std::string BodyOf(Request request = ChatRequest()) {
    testing::RecordingSink sink(transcript_);
    const std::unique_ptr<Answer> answer = Serve(std::move(request));
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    return sink.body();
  }

  /// An answer that breaks off after these pieces.
  void PlayBroken(const std::vector<std::string>& pieces) {
    Script script = Script().Head(200, kEventStreamType);
    for (const std::string& piece : pieces) script.Piece(piece);
    transport_.Play(script.Fail(Cause::kUpstreamReset));
  }

  static std::string Ending(Cause cause) {
    return dialect::ErrorEvent(dialect::Dialect::kOpenAiChat, cause, InfoOf(cause).message);
  }
};

TEST_F(AskUsageTest, AsksInABodyThatDoesNot) {
  for (const absl::string_view target : {"/v1/chat/completions?trace=1", "/v1/completions"}) {
    transport_.Play(GoodStream());
    BodyOf(RequestOf(kBody, target));
    EXPECT_EQ(transport_.sent().back()->body, kAskingBody);
  }
}

TEST_F(AskUsageTest, AsksAtEveryAttempt) {
  Configure({"a", "b"}, [](config::Pool& pool) { pool.ask_usage = true; });
  transport_.Play(Script().Head(503, "text/plain").Piece("full").End());
  transport_.Play(GoodStream());
  Run(RequestOf(kBody));
  ASSERT_EQ(transport_.sent().size(), 2u);
  for (const auto& sent : transport_.sent()) EXPECT_EQ(sent->body, kAskingBody);
}

TEST_F(AskUsageTest, AddsNothingForAClientWhoAsksAndHidesNothing) {
  const std::string body =
      R"({"model":"m","stream":true,"stream_options":{"include_usage": true}})";
  const std::string answer = absl::StrCat(kHello, kStop, kUsage, kDone);
  transport_.Play(Script().Head(200, kEventStreamType).Body(answer, 65536).End());
  Run(RequestOf(body));
  EXPECT_EQ(transport_.sent()[0]->body, body);
  EXPECT_EQ(sink_.body(), answer);
  EXPECT_EQ(finished().frames, 4u);
  EXPECT_EQ(finished().dropped_bytes, 0u);
}

TEST_F(AskUsageTest, LeavesOtherRequestsAndTheirAnswersAlone) {
  Request put = RequestOf(kBody);
  put.method = "PUT";
  for (const Request& request :
       {RequestOf(kBody, "/v1/messages"), RequestOf(kBody, "/v1/responses"),
        RequestOf(kBody, "/v1/embeddings"), RequestOf(kBody, "/v1/other"), put,
        RequestOf(R"({"model":"m"})"), RequestOf(R"({"model":"m","stream":false})"),
        RequestOf(R"({"model":"m","stream":null})")}) {
    SCOPED_TRACE(absl::StrCat(request.method, " ", request.target, " ", request.body));
    transport_.Play(Script().Head(200, kEventStreamType).Piece(kUsage).Piece(kDone).End());
    const std::string body = BodyOf(request);
    EXPECT_EQ(transport_.sent().back()->body, request.body);
    EXPECT_TRUE(absl::StartsWith(body, absl::StrCat(kUsage, kDone))) << body;
  }
}

TEST_F(AskUsageTest, IsOffByDefault) {
  Configure({"a"});
  const std::string answer = absl::StrCat(kHello, kStop, kUsage, kDone);
  transport_.Play(Script().Head(200, kEventStreamType).Body(answer, 65536).End());
  Run(RequestOf(kBody));
  EXPECT_EQ(transport_.sent()[0]->body, kBody);
  EXPECT_EQ(sink_.body(), answer);
}

TEST_F(AskUsageTest, HidesTheChunkTakesItsUsageAndCountsIt) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kUsage)
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
  const size_t start = kHello.size() + kStop.size() + kUsage.size();
  EXPECT_THAT(transcript_.text(),
              HasSubstr(absl::StrCat(" | usage 5/2/7 | write ", kDone.size(), " | frame ", start,
                                     "-", start + kDone.size(), " | done")));
  EXPECT_EQ(finished().usage, Tokens(5, 2, 7));
  EXPECT_EQ(finished().provenance, Provenance::kReported);
  EXPECT_EQ(finished().frames, 3u);
  EXPECT_EQ(finished().dropped_bytes, kUsage.size());
  EXPECT_EQ(finished().dropped_stretches, 1u);
  EXPECT_EQ(finished().bytes_to_client, sink_.body().size());
  EXPECT_FALSE(finished().valid_frames_only);
  EXPECT_NE(finished().digest_to_client, finished().digest_from_upstream);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(AskUsageTest, HandsOverEventOneWhileTheEngineHoldsEventTwo) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Silence(seconds(50))
                      .Piece(kStop)
                      .Silence(seconds(50))
                      .Piece(kDone)
                      .End());
  std::vector<Instant> written_at;
  sink_.DuringWrite([&](Duration) { written_at.push_back(clock_.Now()); });
  const Instant start = clock_.Now();
  Run();
  EXPECT_THAT(sink_.writes(), ElementsAre(kHello, kStop, kDone));
  EXPECT_THAT(written_at, ElementsAre(start, start + seconds(50), start + seconds(100)));
}

TEST_F(AskUsageTest, HoldsBackNoMoreThanAPartOfAnEvent) {
  const std::string two = absl::StrCat(kHello, kHello.substr(0, 9));
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(two)
                      .Piece(kHello.substr(9, 20))
                      .Piece(absl::StrCat(kHello.substr(29), ": ping\n", kStop.substr(0, 1)))
                      .Piece(absl::StrCat(kStop.substr(1), kUsage.substr(0, 30)))
                      .Piece(absl::StrCat(kUsage.substr(30), kDone))
                      .End());
  Run();
  EXPECT_THAT(sink_.writes(), ElementsAre(kHello, absl::StrCat(kHello, ": ping\n"), kStop, kDone));
}

TEST_F(AskUsageTest, PassesCommentsAtOnceAlsoWithoutABlankLine) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(": ping\n")
                      .Piece(":\n\n")
                      .Piece(": ping\r\n")
                      .Piece(absl::StrCat(": ping\n", kUsage, ": bye\n\n"))
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_THAT(sink_.writes(),
              ElementsAre(kHello, ": ping\n", ":\n\n", ": ping\r\n", ": ping\n: bye\n\n", kDone));
  EXPECT_EQ(finished().dropped_bytes, kUsage.size());
}

TEST_F(AskUsageTest, PassesUsageThatIsNullOrBesideAChoice) {
  const std::string answer = absl::StrCat(kNullUsage, kUsageBesideAChoice, kDone);
  transport_.Play(Script().Head(200, kEventStreamType).Body(answer, 65536).End());
  Run();
  EXPECT_EQ(sink_.body(), answer);
  EXPECT_EQ(finished().usage, Tokens(1, 1, 2));
  EXPECT_EQ(finished().dropped_bytes, 0u);
}

TEST_F(AskUsageTest, PartsABreakFromAPartOfAnEventThatItHeldBack) {
  PlayBroken({std::string(kHello), "data: {\"cut"});
  Run();
  EXPECT_THAT(sink_.writes(),
              ElementsAre(kHello, absl::StrCat("data: {\"cut\n\n", Ending(Cause::kUpstreamReset))));
  EXPECT_EQ(finished().bytes_to_client, sink_.body().size());
  EXPECT_EQ(finished().dropped_bytes, 0u);
}

TEST_F(AskUsageTest, AddsNoBlankLineBetweenEvents) {
  PlayBroken({std::string(kHello), std::string(kUsage)});
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, Ending(Cause::kUpstreamReset)));
  EXPECT_EQ(finished().usage, Tokens(5, 2, 7));
  EXPECT_EQ(finished().provenance, Provenance::kPartial);
}

TEST_F(AskUsageTest, HidesAChunkOfWhichOnlyTheBlankLineIsMissing) {
  for (const size_t missing : {1, 2}) {
    transport_.Play(Script()
                        .Head(200, kEventStreamType)
                        .Piece(kHello)
                        .Piece(kUsage.substr(0, kUsage.size() - missing))
                        .End());
    const std::string body = BodyOf();
    EXPECT_EQ(body, absl::StrCat(kHello, Ending(Cause::kTruncated)));
    EXPECT_EQ(observer_.finished().back().dropped_bytes, kUsage.size() - missing);
  }
}

TEST_F(AskUsageTest, PassesAnEndMarkerWithoutABlankLineAtTheEnd) {
  for (const absl::string_view done : {"data: [DONE]", "data: [DONE]\n"}) {
    const std::string answer = absl::StrCat(kHello, kStop, kUsage, done);
    transport_.Play(Script().Head(200, kEventStreamType).Body(answer, 65536).End());
    const std::string body = BodyOf();
    EXPECT_EQ(body, absl::StrCat(kHello, kStop, done));
    EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
  }
}

TEST_F(AskUsageTest, PassesWhatCameBehindTheEndMarkerBeforeABreak) {
  PlayBroken({absl::StrCat(kHello, kStop, kUsage, kDone), "data: {"});
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone, "data: {"));
}

TEST_F(AskUsageTest, HidesNothingFromAnErrorOn) {
  const std::string glued = absl::StrCat("error: {\"message\":\"x\"}\n", kUsage);
  PlayBroken({absl::StrCat(kHello, glued)});
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, glued));
  EXPECT_EQ(cause(), Cause::kUpstreamErrorFrame);
}

TEST_F(AskUsageTest, PassesAnEventTooLargeToJudge) {
  const std::string huge = absl::StrCat("data: {\"choices\":[],\"usage\":{},\"x\":\"",
                                        std::string(3 << 20, 'x'), "\"}\n\n");
  const std::string answer = absl::StrCat(kHello, huge, kStop, kUsage, kDone);
  transport_.Play(Script().Head(200, kEventStreamType).Body(answer, 4096).End());
  Run();
  EXPECT_TRUE(sink_.body() == absl::StrCat(kHello, huge, kStop, kDone));
  EXPECT_EQ(finished().dropped_bytes, kUsage.size());
  EXPECT_GT(sink_.writes().size(), 200u) << "no longer held once it is too large";
}

TEST_F(AskUsageTest, HidesTheChunkAmongValidFramesOnly) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.ask_usage = true;
    pool.relay = config::RelayMode::kValidFrames;
  });
  const std::string answer =
      absl::StrCat(": ping\n\n", kHello, "junk\n\n", kUsage, kStop, kUsage, kDone);
  for (const size_t read_size : {1, 7, 65536}) {
    transport_.Play(Script().Head(200, kEventStreamType).Body(answer, read_size).End());
    const std::string body = BodyOf();
    EXPECT_EQ(body, absl::StrCat(kHello, kStop, kDone));
    const Exchange& record = observer_.finished().back();
    EXPECT_TRUE(record.valid_frames_only);
    EXPECT_EQ(record.dropped_bytes, 8 + 6 + 2 * kUsage.size());
    EXPECT_EQ(record.dropped_stretches, 3u);
    EXPECT_EQ(record.usage, Tokens(5, 2, 7));
    EXPECT_EQ(record.frames, 3u);
  }
}

TEST_F(AskUsageTest, SurvivesAChunkThatComesFirst) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kUsage)
                      .Silence(seconds(1))
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
  EXPECT_THAT(transcript_.text(), HasSubstr("head 200 | usage 5/2/7 | flush | write"));
  EXPECT_EQ(*finished().stamps.first_frame - finished().stamps.accepted, seconds(1));
}

TEST_F(AskUsageTest, LeavesAnAnswerThatIsNoStreamAlone) {
  const std::string answer = R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}})";
  transport_.Play(Script().Head(200, "application/json").Piece(answer).End());
  Run();
  EXPECT_EQ(sink_.body(), answer);
  EXPECT_EQ(finished().digest_to_client, finished().digest_from_upstream);
}

/// Every recorded answer of the two dialects, at every read size.
class AskUsageOfRecordedStreamTest
    : public AskUsageTest,
      public ::testing::WithParamInterface<std::tuple<const RecordedStream*, size_t>> {
 protected:
  const RecordedStream& stream_ = *std::get<0>(GetParam());

  /// Told by its text, which no recorded stream disguises.
  static bool IsUsageChunk(const RecordedStream::Event& event) {
    const std::string data = absl::StrReplaceAll(event.data, {{" ", ""}, {"\n", ""}});
    return event.valid && absl::StrContains(data, "\"choices\":[]") &&
           absl::StrContains(data, "\"usage\":{");
  }

  /// What is for the client: all but `*hidden` chunks.
  std::string ExpectedBody(uint64_t* hidden) const {
    std::string body;
    uint64_t at = 0;
    bool over = false;
    for (const RecordedStream::Event& event : stream_.events) {
      over |= event.data == "[DONE]" || absl::StrContains(event.data, "\"error\":{\"");
      if (over || !IsUsageChunk(event)) continue;
      body += stream_.body.substr(at, event.start - at);
      at = event.end;
      ++*hidden;
    }
    return body + stream_.body.substr(at);
  }
};

TEST_P(AskUsageOfRecordedStreamTest, HidesTheUsageChunksAndNoOtherByte) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.ask_usage = true;
    pool.commit = config::CommitPoint::kOnHead;
  });
  transport_.Play(
      Script().Head(200, kEventStreamType).Body(stream_.body, std::get<1>(GetParam())).End());
  Run(RequestOf(kBody,
                stream_.dialect == "openai.chat" ? "/v1/chat/completions" : "/v1/completions"));
  uint64_t hidden = 0;
  const std::string expected = ExpectedBody(&hidden);
  EXPECT_EQ(sink_.body().substr(0, expected.size()), expected);
  const std::string added = sink_.body().substr(std::min(sink_.body().size(), expected.size()));
  if (stream_.terminal == "truncated") {
    EXPECT_TRUE(added == Ending(Cause::kTruncated) ||
                added == absl::StrCat("\n\n", Ending(Cause::kTruncated)))
        << added;
  } else {
    EXPECT_EQ(added, "");
  }
  EXPECT_EQ(finished().dropped_bytes, stream_.body.size() - expected.size());
  EXPECT_EQ(finished().frames, stream_.events.size() - hidden);
  EXPECT_EQ(finished().usage, stream_.usage);
}

std::vector<const RecordedStream*> Recorded() {
  std::vector<const RecordedStream*> all;
  for (const RecordedStream& stream : testing::RecordedStreams()) {
    const bool asks = stream.dialect == "openai.chat" || stream.dialect == "openai.completions";
    if (asks && stream.is_event_stream) all.push_back(&stream);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AskUsageOfRecordedStreamTest,
                         ::testing::Combine(::testing::ValuesIn(Recorded()),
                                            ::testing::Values(1, 7, 64, 65536)),
                         [](const auto& test) {
                           return absl::StrCat(std::get<0>(test.param)->name, "_by_",
                                               std::get<1>(test.param));
                         });

}  // namespace
}  // namespace sluice::relay
