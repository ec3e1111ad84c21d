#include "tests/support/recorded_streams.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "tests/relay/relay_test.h"

// Every recorded body at every read size, against its expectation.

namespace sluice::relay {
namespace {

using testing::RecordedStream;

std::string PathOf(const std::string& dialect) {
  if (dialect == "openai.chat") return "/v1/chat/completions";
  if (dialect == "openai.completions") return "/v1/completions";
  if (dialect == "openai.responses") return "/v1/responses";
  if (dialect == "anthropic.messages") return "/v1/messages";
  return "/other";
}

class RecordedStreamsTest
    : public RelayTest,
      public ::testing::WithParamInterface<std::tuple<const RecordedStream*, size_t>> {
 protected:
  RecordedStreamsTest() {
    request_.target = PathOf(stream_.dialect);
    script_.Head(stream_.http_status, stream_.content_type).Body(stream_.body, read_size_).End();
    transport_.Play(script_);
  }

  /// What the client gets after the bytes of the upstream when the stream was cut off.
  std::string Ending() const {
    return dialect::ErrorEvent(dialect::DialectOfPath(PathOf(stream_.dialect)), Cause::kTruncated,
                               InfoOf(Cause::kTruncated).message);
  }

  Cause ExpectedCause() const {
    if (stream_.http_status >= 400) return Cause::kUpstreamStatus;
    if (stream_.terminal == "error_event") return Cause::kUpstreamErrorFrame;
    return stream_.terminal == "truncated" ? Cause::kTruncated : Cause::kCompleted;
  }

  void ExpectFrames() const {
    ASSERT_EQ(observer_.frames().size(), stream_.events.size());
    for (size_t i = 0; i < stream_.events.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("event ", i));
      const auto& frame = observer_.frames()[i];
      const RecordedStream::Event& event = stream_.events[i];
      EXPECT_EQ(frame.info.index, i);
      EXPECT_EQ(frame.info.start, event.start);
      EXPECT_EQ(frame.info.end, event.end);
      EXPECT_EQ(frame.event, event.name);
      EXPECT_EQ(frame.data, event.data);
      EXPECT_EQ(frame.info.valid, event.valid);
      EXPECT_EQ(frame.info.first_valid, stream_.first_frame_index == i);
    }
    EXPECT_EQ(finished().stamps.first_frame.has_value(), stream_.first_frame_index.has_value());
    EXPECT_EQ(finished().frames, stream_.events.size());
  }

  const RecordedStream& stream_ = *std::get<0>(GetParam());
  const size_t read_size_ = std::get<1>(GetParam());
  Request request_ = ChatRequest();
  Script script_;
};

TEST_P(RecordedStreamsTest, PassesAsExpected) {
  // Committed at the head, so that what no hold would let through passes too.
  Configure({"a"}, [](config::Pool& pool) { pool.commit = config::CommitPoint::kOnHead; });
  EXPECT_EQ(Run(request_), Answer::Step::kEnd);

  EXPECT_EQ(sink_.head().status, stream_.http_status);
  EXPECT_EQ(sink_.body().substr(0, stream_.body.size()), stream_.body);
  const std::string added = sink_.body().substr(std::min(sink_.body().size(), stream_.body.size()));
  if (stream_.is_event_stream && stream_.terminal == "truncated") {
    EXPECT_TRUE(absl::EndsWith(added, Ending())) << added;
    EXPECT_TRUE(added == Ending() || added == "\n\n" + Ending()) << added;
  } else {
    EXPECT_EQ(added, "");
  }
  EXPECT_EQ(cause(), ExpectedCause());
  if (stream_.on_done.has_value()) {
    EXPECT_EQ(observer_.done(), *stream_.on_done ? 1 : 0);
  }
  EXPECT_EQ(finished().usage, stream_.usage);
  ExpectFrames();
  if (stream_.is_event_stream) {
    EXPECT_EQ(finished().finish_reason, stream_.finish_reason);
  }
}

TEST_P(RecordedStreamsTest, PassesHeldAsExpected) {
  if (!stream_.is_event_stream) return;
  Run(request_);
  if (stream_.failover_before_commit) {
    EXPECT_EQ(sink_.head().status, 502);
    EXPECT_EQ(*AnswerHeader("Content-Type"), "application/json");
    EXPECT_EQ(observer_.frames().size(), 0u);
  } else {
    EXPECT_EQ(sink_.body().substr(0, stream_.body.size()), stream_.body);
    EXPECT_EQ(cause(), ExpectedCause());
    ExpectFrames();
  }
}

std::vector<const RecordedStream*> All() {
  std::vector<const RecordedStream*> all;
  for (const RecordedStream& stream : testing::RecordedStreams()) all.push_back(&stream);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedStreamsTest,
                         ::testing::Combine(::testing::ValuesIn(All()),
                                            ::testing::Values(1, 7, 64, 65536)),
                         [](const auto& test) {
                           return absl::StrCat(std::get<0>(test.param)->name, "_by_",
                                               std::get<1>(test.param));
                         });

}  // namespace
}  // namespace sluice::relay
