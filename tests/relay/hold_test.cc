#include <string>

#include "absl/strings/str_cat.h"

#include "lib/relay/attempt.h"
#include "tests/relay/relay_test.h"

// The five outcomes of waiting for the first valid frame, and what bounds the wait. In all but the
// first the client must see only what the second endpoint sent.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;

class HoldTest : public RelayTest {
 protected:
  HoldTest() { Configure({"a", "b"}); }

  /// Plays `first` at endpoint a and a good stream at b, and expects the client to see b's only.
  void ExpectSilentFailover(Script first, absl::string_view failure) {
    transport_.Play(std::move(first));
    transport_.Play(GoodStream());
    EXPECT_EQ(Run(), Answer::Step::kEnd);
    EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
    EXPECT_EQ(sink_.head().status, 200);
    EXPECT_EQ(attempt_failures(), absl::StrCat(failure, " -"));
    EXPECT_THAT(transcript_.text(),
                HasSubstr(absl::StrCat("attempt 0 pools/chat/endpoints/a | failed 0 ", failure,
                                       " | attempt 1 pools/chat/endpoints/b | first_byte")));
    EXPECT_EQ(cause(), Cause::kCompleted);
    EXPECT_EQ(observer_.done(), 1);
  }
};

TEST_F(HoldTest, CommitsAtTheFirstValidFrame) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(": hi\n\n")
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_FALSE(sink_.has_head());
  answer->Next(sink_);
  EXPECT_EQ(sink_.writes(), std::vector<std::string>{absl::StrCat(": hi\n\n", kHello)});
  Drive(*answer);
}

TEST_F(HoldTest, TriesTheNextAfterAnErrorFrame) {
  ExpectSilentFailover(Script().Head(200, kEventStreamType).Piece(kErrorFrame).End(),
                       "upstream_error_frame");
}

TEST_F(HoldTest, TriesTheNextAfterAnErrorFrameThatFollowsComments) {
  ExpectSilentFailover(
      Script().Head(200, kEventStreamType).Piece(": ping\n\n").Piece(kErrorFrame).Silence(),
      "upstream_error_frame");
}

TEST_F(HoldTest, TriesTheNextAfterABareErrorLine) {
  ExpectSilentFailover(
      Script().Head(200, kEventStreamType).Piece("error: {\"message\":\"no slot\"}\n\n").End(),
      "upstream_error_frame");
}

TEST_F(HoldTest, TriesTheNextWhenNoFrameComesInTime) {
  ExpectSilentFailover(Script().Head(200, kEventStreamType).Silence(), "first_frame_timeout");
  EXPECT_EQ(transport_.sent()[0]->closed_at - finished().stamps.accepted, seconds(300));
}

TEST_F(HoldTest, TriesTheNextWhenNoHeadComesInTime) {
  ExpectSilentFailover(Script().Silence(), "first_frame_timeout");
}

TEST_F(HoldTest, TriesTheNextAfterAnEmptyStream) {
  ExpectSilentFailover(Script().Head(200, kEventStreamType).End(), "empty_answer");
}

TEST_F(HoldTest, TriesTheNextAfterJunk) {
  ExpectSilentFailover(Script()
                           .Head(200, kEventStreamType)
                           .Piece("<html>\n\ndata: not JSON\n\n: ping\n\nevent: x\n\n")
                           .Piece("data: {\"choi")
                           .End(),
                       "empty_answer");
}

TEST_F(HoldTest, TriesTheNextAfterAReset) {
  ExpectSilentFailover(Script().Head(200, kEventStreamType).Fail(Cause::kUpstreamReset),
                       "upstream_reset");
}

TEST_F(HoldTest, TriesTheNextAfterAResetInsideTheFirstFrame) {
  ExpectSilentFailover(
      Script().Head(200, kEventStreamType).Piece("data: {\"choi").Fail(Cause::kTruncated),
      "truncated");
}

TEST_F(HoldTest, TriesTheNextWhenAJsonBodyNeverBegins) {
  ExpectSilentFailover(Script().Head(200, "application/json").Fail(Cause::kUpstreamReset),
                       "upstream_reset");
}

TEST_F(HoldTest, SendsNothingWhenTheClientLeaves) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(": hi\n\n").Cancel(Cause::kClientGone));
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_FALSE(sink_.has_head());
  EXPECT_EQ(transport_.sent().size(), 1u);
  EXPECT_EQ(cause(), Cause::kClientGone);
  EXPECT_EQ(finished().http_status, 0);
}

TEST_F(HoldTest, ReplaysHeldBytesAsTheyCame) {
  const std::string first =
      absl::StrCat("\xEF\xBB\xBF: one\r\n\r\nid: 7\rretry: 10\r\rdata: not JSON\n\n", kHello);
  transport_.Play(
      Script().Head(200, kEventStreamType).Body(first, 3).Piece(kStop).Piece(kDone).End());
  Run();
  EXPECT_EQ(sink_.writes()[0].substr(0, first.size() - 2), first.substr(0, first.size() - 2));
  EXPECT_EQ(sink_.body(), absl::StrCat(first, kStop, kDone));
}

TEST_F(HoldTest, CommitsAFirstFrameTooLargeToHold) {
  const std::string large =
      absl::StrCat("data: {\"text\":\"", std::string(kMaxHeldBytes, 'x'), "\"}\n\n");
  transport_.Play(
      Script().Head(200, kEventStreamType).Body(large, 4096).Piece(kStop).Piece(kDone).End());
  Run();
  EXPECT_EQ(sink_.writes()[0].size(), kMaxHeldBytes);
  EXPECT_EQ(sink_.body(), absl::StrCat(large, kStop, kDone));
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(HoldTest, CommitsAFirstFrameLongerThanAnyFrameIsKept) {
  // 5 MiB: passed and counted, its data not kept.
  const std::string large =
      absl::StrCat("data: {\"text\":\"", std::string(5 << 20, 'x'), "\"}\n\n");
  transport_.Play(
      Script().Head(200, kEventStreamType).Body(large, 65536).Piece(kStop).Piece(kDone).End());
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(large, kStop, kDone));
  EXPECT_EQ(finished().frames, 3u);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(HoldTest, CommitsCommentsAfterTheKeepaliveTime) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(": ping\n\n")
                      .Silence(seconds(15))
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_FALSE(transport_.sent()[0]->closed);
  answer->Next(sink_);
  EXPECT_EQ(sink_.body(), ": ping\n\n");
  EXPECT_EQ(*sink_.head().headers.Find("Content-Type"), kEventStreamType);
  Drive(*answer);
  EXPECT_EQ(*finished().stamps.first_byte - finished().stamps.accepted, seconds(10));
  EXPECT_EQ(*finished().stamps.first_frame - finished().stamps.accepted, seconds(15));
}

TEST_F(HoldTest, CommitsTheFirstCommentThatComesAfterTheKeepaliveTime) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Silence(seconds(12))
                      .Piece(": ping\n\n")
                      .Silence(seconds(3))
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_EQ(*finished().stamps.first_byte - finished().stamps.accepted, seconds(12));
}

TEST_F(HoldTest, WaitsOnWithoutCommentsAfterTheKeepaliveTime) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Silence(seconds(200)).Piece(kErrorFrame).End());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(attempt_failures(), "upstream_error_frame -");
}

TEST_F(HoldTest, LimitsTheWaitForTheFirstFrameAfterAKeepaliveCommitToo) {
  Script script;
  script.Head(200, kEventStreamType);
  for (int i = 0; i < 40; ++i) script.Piece(": ping\n\n").Silence(seconds(10));
  transport_.Play(script);
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(cause(), Cause::kFirstFrameTimeout);
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(300));
  EXPECT_EQ(transport_.sent().size(), 1u) << "retried after the commit";
}

TEST_F(HoldTest, CommitsAtTheHeadWhenThePoolSaysSo) {
  Configure({"a", "b"}, [](config::Pool& pool) { pool.commit = config::CommitPoint::kOnHead; });
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kErrorFrame).End());
  const std::unique_ptr<Answer> answer = Serve();
  answer->Next(sink_);
  EXPECT_TRUE(sink_.has_head());
  EXPECT_TRUE(sink_.body().empty());
  Drive(*answer);
  EXPECT_EQ(sink_.body(), kErrorFrame);
  EXPECT_EQ(cause(), Cause::kUpstreamErrorFrame);
}

TEST_F(HoldTest, SendsTheHeadAtOnceThoughNothingFollowsIt) {
  Configure({"a"}, [](config::Pool& pool) { pool.commit = config::CommitPoint::kOnHead; });
  transport_.Play(Script()
                      .Silence(seconds(1))
                      .Head(200, kEventStreamType)
                      .Silence(seconds(9))
                      .Piece(kHello)
                      .Piece(kStop)
                      .End());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_EQ(answer->Next(sink_), Answer::Step::kMore);
  EXPECT_THAT(transcript_.text(), ::testing::EndsWith("first_byte | head 200 | flush"));
  EXPECT_EQ(Drive(*answer), Answer::Step::kEnd);
  EXPECT_EQ(*finished().stamps.first_byte - finished().stamps.accepted, seconds(1));
}

TEST_F(HoldTest, FlushesNoHeadThatLeavesWithItsBody) {
  transport_.Play(GoodStream());
  Run();
  EXPECT_THAT(transcript_.text(), ::testing::Not(HasSubstr("flush")));
}

TEST_F(HoldTest, LosesAClientThatTakesNoHead) {
  Configure({"a"}, [](config::Pool& pool) { pool.commit = config::CommitPoint::kOnHead; });
  for (const auto& [result, ending] :
       {std::pair(ClientSink::Result::kGone, Cause::kClientGone),
        std::pair(ClientSink::Result::kStalled, Cause::kClientTooSlow)}) {
    transport_.Play(Script().Head(200, kEventStreamType).Silence());
    testing::RecordingSink sink(transcript_);
    sink.FailFlush(result);
    EXPECT_EQ(Serve()->Next(sink), Answer::Step::kAbort);
    EXPECT_EQ(observer_.finished().back().cause, ending);
    EXPECT_TRUE(transport_.sent().back()->closed);
  }
}

TEST_F(HoldTest, SpendsOneBudgetOverAllAttempts) {
  Configure({"a", "b", "c"}, [](config::Pool& pool) { pool.timeouts.hold_budget = seconds(400); });
  transport_.Play(Script().Silence());
  transport_.Play(Script().Silence());
  Run();
  EXPECT_EQ(attempt_failures(), "first_frame_timeout hold_budget_spent");
  EXPECT_EQ(*finished().stamps.done - finished().stamps.accepted, seconds(400));
  EXPECT_EQ(sink_.head().status, 504);
  EXPECT_EQ(cause(), Cause::kHoldBudgetSpent);
}

TEST_F(HoldTest, IdleLimitDoesNotCutALongPrefill) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Silence(seconds(299))
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(HoldTest, RecordsNothingOfAnErrorFrameThatIsNoName) {
  transport_.Play(
      Script()
          .Head(200, kEventStreamType)
          .Piece("data: {\"error\":{\"type\":\"Bearer sk-1\",\"code\":\"slow_down\"}}\n\n")
          .End());
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(finished().attempts.at(0).detail, "(no name)/slow_down");
}

}  // namespace
}  // namespace sluice::relay
