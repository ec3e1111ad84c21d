#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/relay/relay_test.h"
#include "tests/support/recorded_streams.h"

// Five events of 163, 147, 148, 156 and 14 bytes, 628 in all: the role, "Hel", "lo" with the
// finish, the usage 5/2/7 without choices, `[DONE]`.

namespace sluice::relay {
namespace {

class HandExampleTest : public RelayTest {
 protected:
  const testing::RecordedStream& example_ = testing::RecordedStreamNamed("chat_worked_example");
};

TEST_F(HandExampleTest, PassesFortyBytesAtATime) {
  ASSERT_EQ(example_.body.size(), 628u);
  transport_.Play(Script().Head(200, kEventStreamType).Body(example_.body, 40).End());
  EXPECT_EQ(Run(), Answer::Step::kEnd);

  // The first event ends in read 5, so five reads are held and go out together; then each read is
  // written before the events that it completes are heard: reads 8, 12, 16 and 16.
  EXPECT_EQ(
      transcript_.text(),
      "started | attempt 0 pools/chat/endpoints/a | first_byte | head 200 | "
      "write 200 | frame 0-163 first | "
      "write 40 | write 40 | write 40 | frame 163-310 | "
      "write 40 | write 40 | write 40 | write 40 | frame 310-458 | "
      "write 40 | write 40 | write 40 | write 28 | frame 458-614 | usage 5/2/7 | frame 614-628 | "
      "done | finished completed");
  EXPECT_EQ(sink_.body(), example_.body);
  EXPECT_EQ(*AnswerHeader("Content-Type"), kEventStreamType);
  EXPECT_EQ(finished().usage, Tokens(5, 2, 7));
  EXPECT_EQ(finished().provenance, Provenance::kReported);
  EXPECT_EQ(finished().finish_reason, "stop");
}

TEST_F(HandExampleTest, HearsEachEventAfterTheReadThatCompletesIt) {
  // Committed at the head, so that nothing is held and writes are reads.
  Configure({"a"}, [](config::Pool& pool) { pool.commit = config::CommitPoint::kOnHead; });
  transport_.Play(Script().Head(200, kEventStreamType).Body(example_.body, 40).End());
  const std::unique_ptr<Answer> answer = Serve();
  std::vector<size_t> reads;
  while (answer->Next(sink_) == Answer::Step::kMore) {
    while (reads.size() < observer_.frames().size()) reads.push_back(sink_.writes().size());
  }
  EXPECT_EQ(absl::StrJoin(reads, ","), "5,8,12,16,16");
}

TEST_F(HandExampleTest, ReportsTheFirstByteWhileTheClientHasNone) {
  transport_.Play(Script().Head(200, kEventStreamType).Body(example_.body, 40).End());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_FALSE(sink_.has_head());
  sink_.DuringWrite([this](Duration) {
    if (!sink_.writes().empty()) return;
    EXPECT_EQ(transcript_.lines()[2], "first_byte");
    EXPECT_TRUE(sink_.body().empty());
  });
  Drive(*answer);
}

TEST_F(HandExampleTest, PassesEveryTwoWaySplit) {
  for (size_t split = 1; split < example_.body.size(); ++split) {
    SCOPED_TRACE(split);
    testing::Transcript transcript;
    testing::RecordingObserver observer(transcript);
    testing::RecordingSink sink(transcript);
    Proxy proxy(Deps(observer));
    transport_.Play(Script()
                        .Head(200, kEventStreamType)
                        .Piece(example_.body.substr(0, split))
                        .Piece(example_.body.substr(split))
                        .End());
    const std::unique_ptr<Answer> answer = proxy.Serve(ChatRequest(), clock_.Now(), cancellation_);
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    EXPECT_EQ(sink.body(), example_.body);
    ASSERT_EQ(observer.frames().size(), 5u);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(observer.frames()[i].data, example_.events[i].data);
    EXPECT_EQ(observer.done(), 1);
    EXPECT_EQ(observer.finished().at(0).usage, Tokens(5, 2, 7));
  }
}

}  // namespace
}  // namespace sluice::relay
