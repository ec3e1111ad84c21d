#include <string>

#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "tests/relay/relay_test.h"

// A client that leaves ends the upstream's work in every phase (ruling 7); an operator's cancel and
// a drain tell the client so.

namespace sluice::relay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class CancelTest : public RelayTest {
 protected:
  CancelTest() { Configure({"a", "b"}); }

  void ExpectLeftUnanswered() {
    EXPECT_EQ(Run(), Answer::Step::kAbort);
    EXPECT_FALSE(sink_.has_head());
    ExpectClientGone();
  }

  void ExpectClientGone() {
    EXPECT_EQ(cause(), Cause::kClientGone);
    EXPECT_EQ(transport_.sent().size(), 1u) << "retried for nobody";
    EXPECT_TRUE(transport_.sent()[0]->closed);
    EXPECT_EQ(observer_.done(), 0);
    EXPECT_THAT(log_.at(0), HasSubstr(" INFO exchange finished"));
  }
};

TEST_F(CancelTest, ClientLeavesWhileConnecting) {
  transport_.Play(Script().Cancel(Cause::kClientGone).Refuse());
  ExpectLeftUnanswered();
}

TEST_F(CancelTest, ClientLeavesBeforeTheHead) {
  transport_.Play(Script().Silence(seconds(1)).Cancel(Cause::kClientGone).Silence());
  ExpectLeftUnanswered();
}

TEST_F(CancelTest, ClientLeavesBeforeTheFirstFrame) {
  transport_.Play(Script().Head(200, kEventStreamType).Cancel(Cause::kClientGone).Silence());
  ExpectLeftUnanswered();
}

TEST_F(CancelTest, ClientOfAUnaryRequestLeaves) {
  transport_.Play(Script().Head(200, "application/json").Cancel(Cause::kClientGone).Silence());
  ExpectLeftUnanswered();
}

TEST_F(CancelTest, ClientLeavesWhileAnErrorBodyIsRead) {
  transport_.Play(Script().Head(500, "application/json").Cancel(Cause::kClientGone).Silence());
  ExpectLeftUnanswered();
}

TEST_F(CancelTest, ClientLeavesWhileTheUpstreamIsSilent) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Cancel(Cause::kClientGone).Silence());
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_EQ(sink_.body(), kHello);
  ExpectClientGone();
}

TEST_F(CancelTest, UpstreamIsClosedBeforeOthersRunAndTheEndIsWrittenDown) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Cancel(Cause::kClientGone).Silence());
  bool let_others_run = false;
  sink_.DuringLetOthersRun([&] {
    let_others_run = true;
    EXPECT_TRUE(transport_.sent()[0]->closed);
    EXPECT_TRUE(log_.empty());
  });
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_TRUE(let_others_run);
  ExpectClientGone();
}

TEST_F(CancelTest, ClientIsGoneAtTheFirstWrite) {
  transport_.Play(GoodStream());
  sink_.FailWrite(1, ClientSink::Result::kGone);
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  ExpectClientGone();
  EXPECT_EQ(finished().frames, 0u) << "observed, though never written";
}

TEST_F(CancelTest, ClientIsGoneAtALaterWrite) {
  transport_.Play(GoodStream());
  sink_.FailWrite(2, ClientSink::Result::kGone);
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_EQ(finished().frames, 1u);
  ExpectClientGone();
}

TEST_F(CancelTest, ClientLeavesAfterTheEndMarkerWithAllItWaitedFor) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kUsage)
                      .Piece(kDone)
                      .Cancel(Cause::kClientGone)
                      .Silence());
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(observer_.done(), 1);
  EXPECT_EQ(finished().provenance, Provenance::kReported);
}

TEST_F(CancelTest, ClientLeavesBecauseOfTheUpstreamsError) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kErrorFrame)
                      .Cancel(Cause::kClientGone)
                      .Silence());
  Run();
  EXPECT_EQ(cause(), Cause::kUpstreamErrorFrame);
}

TEST_F(CancelTest, DroppedAnswerIsAClientGone) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Silence());
  {
    const std::unique_ptr<Answer> answer = Serve();
    answer->Next(sink_);
  }
  ExpectClientGone();
}

TEST_F(CancelTest, DroppedAnswerThatNeverBeganIsAClientGone) {
  transport_.Play(GoodStream());
  Serve();
  ExpectClientGone();
  EXPECT_FALSE(finished().stamps.first_byte.has_value());
}

TEST_F(CancelTest, DroppedGatewayAnswerIsAClientGone) {
  Configure({});
  Serve();
  EXPECT_EQ(cause(), Cause::kClientGone);
}

TEST_F(CancelTest, FirstCauseWins) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Cancel(Cause::kCancelledByOperator, "ada: stuck")
                      .Cancel(Cause::kClientGone)
                      .Silence());
  Run();
  EXPECT_EQ(cause(), Cause::kCancelledByOperator);
  EXPECT_EQ(finished().detail, "ada: stuck");
}

TEST_F(CancelTest, OperatorsCancelEndsAStreamInDialect) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Cancel(Cause::kCancelledByOperator)
                      .Silence());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_THAT(sink_.body(), EndsWith(dialect::ErrorEvent(
                                dialect::Dialect::kOpenAiChat, Cause::kCancelledByOperator,
                                InfoOf(Cause::kCancelledByOperator).message)));
}

TEST_F(CancelTest, OperatorsCancelBeforeTheCommitIsAnAnswer) {
  transport_.Play(Script().Cancel(Cause::kCancelledByOperator, "ada: stuck").Silence());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_THAT(sink_.body(), HasSubstr("cancelled_by_operator"));
  EXPECT_EQ(transport_.sent().size(), 1u);
  EXPECT_EQ(cause(), Cause::kCancelledByOperator);
  EXPECT_EQ(finished().detail, "ada: stuck");
}

TEST_F(CancelTest, DrainThatRanOutEndsAStreamInDialect) {
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Cancel(Cause::kDrained).Silence());
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  EXPECT_THAT(sink_.body(), HasSubstr("\"drained\""));
  EXPECT_EQ(cause(), Cause::kDrained);
}

TEST_F(CancelTest, UpstreamIsClosedBeforeASlowClientIsTold) {
  transport_.Play(Script().Head(200, kEventStreamType).Piece(kHello).Fail(Cause::kUpstreamReset));
  const std::unique_ptr<Answer> answer = Serve();
  answer->Next(sink_);
  sink_.DuringWrite([this](Duration) { EXPECT_TRUE(transport_.sent()[0]->closed); });
  Drive(*answer);
}

TEST_F(CancelTest, ClientThatDoesNotReadIsGivenUp) {
  transport_.Play(GoodStream());
  sink_.FailWrite(2, ClientSink::Result::kStalled);
  sink_.DuringWrite([](Duration stall_limit) { EXPECT_EQ(stall_limit, seconds(30)); });
  EXPECT_EQ(Run(), Answer::Step::kAbort);
  EXPECT_EQ(cause(), Cause::kClientTooSlow);
  EXPECT_TRUE(transport_.sent()[0]->closed);
}

TEST_F(CancelTest, NothingIsReadWhileTheClientIsWrittenTo) {
  // The wait on a slow client counts as no silence of the upstream.
  transport_.Play(GoodStream());
  sink_.DuringWrite([this](Duration) { clock_.Advance(seconds(29)); });
  Run();
  EXPECT_EQ(cause(), Cause::kCompleted);
}

}  // namespace
}  // namespace sluice::relay
