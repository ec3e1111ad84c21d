#include <string>

#include "absl/strings/str_cat.h"

#include "lib/base/digest.h"
#include "lib/relay/body_watch.h"
#include "tests/relay/relay_test.h"

// What an exchange leaves behind: stamps, counts, usage, gaps, one log line.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;

class RecordTest : public RelayTest {
 protected:
  Duration Since(const std::optional<Instant>& stamp) const {
    EXPECT_TRUE(stamp.has_value());
    return stamp.value_or(Instant()) - finished().stamps.accepted;
  }
};

TEST_F(RecordTest, StampsEachPointOnce) {
  transport_.Play(
      Script()
          .Silence(seconds(1))
          .Head(200, kEventStreamType)
          .Silence(seconds(2))
          .Piece(": ping\n\n")
          .Silence(seconds(3))
          .Piece("data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n")
          .Silence(seconds(4))
          .Piece(kHello)
          .Piece(kHello)
          .Silence(seconds(5))
          .Piece(kStop)
          .Piece(kDone)
          .End());
  Run();
  const Stamps& stamps = finished().stamps;
  EXPECT_EQ(Since(stamps.upstream.connected), seconds(0));
  EXPECT_EQ(Since(stamps.upstream.head), seconds(1));
  EXPECT_EQ(Since(stamps.upstream.first_byte), seconds(3));
  EXPECT_EQ(Since(stamps.first_byte), seconds(6));
  EXPECT_EQ(Since(stamps.first_frame), seconds(6));
  EXPECT_EQ(Since(stamps.first_content), seconds(10));
  EXPECT_EQ(Since(stamps.done), seconds(15));
}

TEST_F(RecordTest, FirstFrameIncludesTheTimeLostOnFailedAttempts) {
  Configure({"a", "b"});
  transport_.Play(Script().Silence(seconds(7)).Fail(Cause::kUpstreamReset));
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(Since(finished().stamps.first_frame), seconds(7));
  EXPECT_EQ(finished().attempts[0].ended, finished().stamps.accepted + seconds(7));
  EXPECT_EQ(finished().attempts[1].http_status, 200);
}

TEST_F(RecordTest, CommentsAndRawTextStampNoFirstFrame) {
  Configure({"a"}, [](config::Pool& pool) { pool.commit = config::CommitPoint::kOnHead; });
  transport_.Play(Script().Head(200, kEventStreamType).Piece(": ping\n\ndata: raw text\n\n").End());
  Run();
  EXPECT_FALSE(finished().stamps.first_frame.has_value());
  EXPECT_TRUE(finished().stamps.first_byte.has_value());
}

TEST_F(RecordTest, CountsBytesOfAllAttempts) {
  Configure({"a", "b"});
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kErrorFrame).End());
  transport_.Play(GoodStream());
  Run();
  const size_t good = absl::StrCat(kHello, kStop, kDone).size();
  EXPECT_EQ(finished().bytes_from_upstream, kErrorFrame.size() + good);
  EXPECT_EQ(finished().bytes_to_client, good);
}

TEST_F(RecordTest, LargestGapIsTheUpstreamsWhenItWasSilent) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Silence(seconds(8))
                      .Piece(kStop)
                      .Silence(seconds(3))
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_EQ(finished().largest_gap, seconds(8));
  EXPECT_FALSE(finished().largest_gap_by_client);
}

TEST_F(RecordTest, LargestGapIsTheClientsWhenItDidNotRead) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Silence(seconds(3))
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  sink_.DuringWrite([this](Duration) {
    if (sink_.writes().size() == 2) clock_.Advance(seconds(9));
  });
  Run();
  EXPECT_EQ(finished().largest_gap, seconds(9));
  EXPECT_TRUE(finished().largest_gap_by_client);
}

TEST_F(RecordTest, LetsMoreComeOnceEventsFollowEachOtherFast) {
  const auto held_back = [this](Duration gap) {
    Script script = Script().Head(200, kEventStreamType).Piece(kHello);
    for (int i = 0; i < 4; ++i) script.Silence(gap).Piece(kHello);
    transport_.Play(script.Piece(kStop).Piece(kDone).End());
    return RunApart().let_more_come();
  };
  EXPECT_EQ(held_back(milliseconds(2)), 1) << "the last three came at once: two fast gaps in a row";
  EXPECT_EQ(held_back(milliseconds(1)), 5) << "of six gaps all but the first";
}

TEST_F(RecordTest, LetsNoMoreComeOfABodyThatIsNoEventStream) {
  Script script = Script().Head(200, "application/json");
  for (int i = 0; i < 4; ++i) script.Piece("   ");
  transport_.Play(script.Piece("{}").End());
  EXPECT_EQ(RunApart().let_more_come(), 0);
}

TEST_F(RecordTest, FramesTellTheTimeSinceTheOneBefore) {
  transport_.Play(Script()
                      .Silence(seconds(2))
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Silence(seconds(3))
                      .Piece(absl::StrCat(kStop, kDone))
                      .End());
  Run();
  ASSERT_EQ(observer_.frames().size(), 3u);
  EXPECT_EQ(observer_.frames()[0].info.gap, seconds(2));
  EXPECT_EQ(observer_.frames()[1].info.gap, seconds(3));
  EXPECT_EQ(observer_.frames()[2].info.gap, seconds(0));
}

TEST_F(RecordTest, LastUsageWins) {
  transport_.Play(
      Script()
          .Head(200, kEventStreamType)
          .Piece(kHello)
          .Piece("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,"
                 "\"total_tokens\":2}}\n\n")
          .Piece(kUsage)
          .Piece(kDone)
          .End());
  Run();
  EXPECT_EQ(finished().usage, Tokens(5, 2, 7));
  EXPECT_THAT(transcript_.text(), HasSubstr("usage 1/1/2 | "));
}

TEST_F(RecordTest, ReadsTheUsageOfAJsonBody) {
  transport_.Play(Script()
                      .Head(200, "application/json; charset=utf-8")
                      .Body(R"({"id":"x","usage":{"prompt_tokens":13,"completion_tokens":4}})", 7)
                      .EndWithLastPiece());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(finished().usage, Tokens(13, 4, 17));
  EXPECT_EQ(finished().provenance, Provenance::kReported);
  EXPECT_TRUE(observer_.frames().empty());
  EXPECT_EQ(observer_.done(), 1);
  EXPECT_TRUE(transport_.sent()[0]->read_to_end);
}

TEST_F(RecordTest, ReadsTheUsageOfEmbeddings) {
  Request request = ChatRequest();
  request.target = "/v1/embeddings";
  request.body = R"({"model":"lantern-embed","input":["a"]})";
  const std::string body =
      R"({"object":"list","data":[{"embedding":[0.25,-1e-9],"index":0}],)"
      R"("model":"lantern-embed","usage":{"prompt_tokens":8,"total_tokens":8}})";
  transport_.Play(Script().Head(200, "application/json").Body(body, 16).End());
  EXPECT_EQ(Run(request), Answer::Step::kEnd);
  EXPECT_EQ(sink_.body(), body);
  EXPECT_EQ(finished().info().dialect, "openai.embeddings");
  EXPECT_EQ(finished().info().model, "lantern-embed");
  EXPECT_EQ(finished().usage, Tokens(8, 0, 8));
  EXPECT_EQ(finished().provenance, Provenance::kReported);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(RecordTest, PassesAJsonBodyTooLargeToBeRead) {
  const std::string body = absl::StrCat(R"({"usage":{"prompt_tokens":1},"text":")",
                                        std::string(kMaxJsonCopy, 'x'), "\"}");
  transport_.Play(Script().Head(200, "application/json").Body(body, 1 << 16).End());
  Run();
  EXPECT_EQ(sink_.body(), body);
  EXPECT_EQ(finished().usage, std::nullopt);
  EXPECT_EQ(finished().provenance, Provenance::kAbsent);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(RecordTest, PassesAJsonErrorThatSaysOkAndTellsIt) {
  transport_.Play(
      Script().Head(200, "application/json").Piece(R"({"error":{"message":"no"}})").End());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(cause(), Cause::kUpstreamErrorFrame);
  EXPECT_EQ(observer_.done(), 0);
}

TEST_F(RecordTest, ObservesNothingOfAnEncodedStream) {
  HeaderList headers;
  headers.Add("Content-Encoding", "br");
  transport_.Play(Script().Head(200, kEventStreamType, headers).Piece(kHello).End());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(sink_.body(), kHello);
  EXPECT_TRUE(observer_.frames().empty());
  EXPECT_EQ(*AnswerHeader("Content-Encoding"), "br");
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(RecordTest, GivesTheEndpointBackWhenItFinishes) {
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_EQ(endpoints_.Read("pools/chat/endpoints/a").in_flight, 1);
  Drive(*answer);
  EXPECT_EQ(endpoints_.Read("pools/chat/endpoints/a").in_flight, 0);
  EXPECT_TRUE(transport_.sent()[0]->closed);
}

TEST_F(RecordTest, LeavesOneLogLine) {
  transport_.Play(Script()
                      .Silence(milliseconds(250))
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kUsage)
                      .Piece(kDone)
                      .End());
  Run();
  ASSERT_EQ(log_.size(), 1u);
  const size_t bytes = sink_.body().size();
  EXPECT_THAT(log_[0],
              ::testing::EndsWith(absl::StrCat(
                  " INFO exchange finished id=", ToString(finished().info().id),
                  " client=192.0.2.7:5000 method=POST path=/v1/chat/completions model=lantern-8b"
                  " pool=chat endpoint=pools/chat/endpoints/a attempts=1 cause=completed status=200"
                  " first_byte_ms=250 ttft_ms=250 done_ms=250 bytes_in=",
                  bytes, " bytes_out=", bytes,
                  " digest_in=", absl::Hex(*finished().digest_from_upstream, absl::kZeroPad16),
                  " frames=4 prompt_tokens=5 completion_tokens=2 total_tokens=7 usage=reported"
                  " finish=stop")));
}

TEST_F(RecordTest, LogsWhatWentWrongToo) {
  Request request = ChatRequest();
  request.headers.Add("X-Request-Id", "theirs-17");
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Silence(seconds(2))
                      .Piece(kHello)
                      .Fail(Cause::kUpstreamReset, "by peer"));
  Run(request);
  ASSERT_EQ(log_.size(), 1u);
  for (const absl::string_view field :
       {" request_id=theirs-17 ", " largest_gap_ms=2000 largest_gap_by=upstream ",
        " digest_out=", " detail=\"by peer\""}) {
    EXPECT_THAT(log_[0], HasSubstr(std::string(field)));
  }
}

TEST_F(RecordTest, LogsNoEndlessTextOfAPeer) {
  Request request = ChatRequest();
  request.body = absl::StrCat("{\"model\":\"", std::string(100'000, 'm'), "\"}");
  transport_.Play(GoodStream());
  Run(request);
  EXPECT_LT(log_.at(0).size(), 2000u);
}

TEST_F(RecordTest, DigestsTheBodyInAndOut) {
  transport_.Play(Script().Refuse());
  transport_.Play(Script().Head(200, kEventStreamType).Body(absl::StrCat(kHello, kStop), 7).End());
  Configure({"a", "b"});
  Run();
  Digest body;
  body.Update(kHello);
  body.Update(kStop);
  EXPECT_EQ(finished().digest_from_upstream, body.value());
  EXPECT_EQ(finished().digest_to_client, body.value());
}

TEST_F(RecordTest, DigestsWhatItAddedToo) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Fail(Cause::kUpstreamReset));
  Run();
  Digest read;
  read.Update(kHello);
  Digest written;
  written.Update(sink_.body());
  EXPECT_EQ(finished().digest_from_upstream, read.value());
  EXPECT_EQ(finished().digest_to_client, written.value());
  EXPECT_NE(read.value(), written.value());
}

TEST_F(RecordTest, DigestsAnAnswerOfItsOwn) {
  transport_.Play(Script().Refuse());
  Run();
  Digest written;
  written.Update(sink_.body());
  EXPECT_EQ(finished().digest_from_upstream, std::nullopt);
  EXPECT_EQ(finished().digest_to_client, written.value());
}

TEST_F(RecordTest, TellsHowLongAnUpstreamOutlivedItsCancellation) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Silence());
  sink_.DuringWrite([this](Duration) {
    cancellation_.Cancel(Cause::kCancelledByOperator, clock_.Now());
    clock_.Advance(milliseconds(30));
  });
  Run();
  EXPECT_EQ(finished().cancel_latency, milliseconds(30));
  EXPECT_THAT(log_.at(0), HasSubstr(" cancel_ms=30"));
}

TEST_F(RecordTest, TellsTheLatencyOfACancelBeforeTheCommit) {
  transport_.Play(Script().Cancel(Cause::kClientGone).Silence());
  Run();
  EXPECT_EQ(finished().cancel_latency, milliseconds(0));
}

TEST_F(RecordTest, HasNoCancelLatencyWhenNothingWasCancelled) {
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(finished().cancel_latency, std::nullopt);
}

TEST_F(RecordTest, TellsWhenEachAttemptBeganAndEnded) {
  Configure({"a", "b"});
  transport_.Play(Script().Silence(seconds(1)).Fail(Cause::kUpstreamReset));
  transport_.Play(
      Script().Silence(seconds(2)).Head(200, kEventStreamType).Piece(kHello).Piece(kStop).End());
  Run();
  const Instant start = finished().stamps.accepted;
  ASSERT_EQ(finished().attempts.size(), 2u);
  EXPECT_EQ(finished().attempts[0].started, start);
  EXPECT_EQ(finished().attempts[0].ended, start + seconds(1));
  EXPECT_EQ(finished().attempts[1].started, start + seconds(1));
  EXPECT_EQ(finished().attempts[1].ended, start + seconds(3));
}

TEST_F(RecordTest, LogsNoContentAndNoKey) {
  Request request = ChatRequest();
  request.headers.Add("Authorization", "Bearer sk-secret");
  request.body = R"({"model":"m","messages":[{"content":"private words"}]})";
  transport_.Play(GoodStream());
  Run(request);
  EXPECT_THAT(log_.at(0), ::testing::Not(HasSubstr("private")));
  EXPECT_THAT(log_.at(0), ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(log_.at(0), ::testing::Not(HasSubstr("Hello")));
}

TEST_F(RecordTest, AStreamOfAnHourIsNotCut) {
  Script script;
  script.Head(200, kEventStreamType);
  for (int i = 0; i < 3600; ++i) script.Piece(kHello).Silence(seconds(1));
  transport_.Play(script.Piece(kStop).Piece(kDone).End());
  Run();
  EXPECT_EQ(finished().frames, 3602u);
  EXPECT_EQ(Since(finished().stamps.done), seconds(3600));
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(RecordTest, TenThousandEventsOfOneReadAreAllHeard) {
  std::string piece;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&piece, kHello);
  absl::StrAppend(&piece, kStop, kDone);
  transport_.Play(Script().Head(200, kEventStreamType).Piece(piece).EndWithLastPiece());
  Run();
  EXPECT_EQ(finished().frames, 10'002u);
  EXPECT_EQ(sink_.writes().size(), 1u);
  EXPECT_EQ(sink_.body(), piece);
}

TEST_F(RecordTest, SeveralObserversHearTheSame) {
  testing::Transcript first_transcript;
  testing::Transcript second_transcript;
  testing::RecordingObserver first(first_transcript);
  testing::RecordingObserver second(second_transcript);
  Observers both;
  both.Add(&first);
  both.Add(&second);
  Proxy proxy(Deps(both));
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> answer = proxy.Serve(ChatRequest(), clock_.Now(), cancellation_);
  Drive(*answer);
  EXPECT_EQ(first_transcript.text(), second_transcript.text());
  EXPECT_EQ(first.finished().size(), 1u);
}

}  // namespace
}  // namespace sluice::relay
