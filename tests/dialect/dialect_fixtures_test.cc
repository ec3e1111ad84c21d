#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "lib/sse/splitter.h"
#include "tests/dialect/body_parts.h"
#include "tests/sse/stream_fixtures.h"

namespace sluice::dialect {
namespace {

Dialect DialectNamed(absl::string_view name) {
  for (const Dialect dialect :
       {Dialect::kOpenAiChat, Dialect::kOpenAiCompletions, Dialect::kOpenAiResponses,
        Dialect::kOpenAiEmbeddings, Dialect::kAnthropicMessages}) {
    if (ToString(dialect) == name) return dialect;
  }
  EXPECT_EQ(name, "none");
  return Dialect::kNone;
}

/// What a reader makes of a stream, in the fixtures' terms.
struct Outcome {
  std::vector<bool> valid;
  std::optional<size_t> usage_event;
  std::optional<size_t> first_frame;
  std::optional<size_t> error_event;  // of the first error, if it is an event
  bool error_seen = false;
  bool failover_ok = true;  // nothing valid, or an error up to the first valid frame
  Terminal terminal = Terminal::kTruncated;
};

Outcome ReadAll(const Fixture& fixture, size_t read_size, StreamReader& reader) {
  Outcome out;
  sse::Splitter splitter;
  const auto see = [&](const sse::Frame& frame) {
    const FrameView view = reader.Read(frame);
    const size_t index = out.valid.size();
    if (view.error && !out.error_seen) {
      out.error_seen = true;
      if (!frame.error_line) out.error_event = index;
    }
    if (frame.error_line) return;
    out.valid.push_back(view.valid);
    if (view.usage_changed) out.usage_event = index;
    if (view.valid && !out.first_frame) {
      out.first_frame = index;
      out.failover_ok = out.error_seen;
    }
  };
  for (const absl::string_view piece : Pieces(fixture.body, read_size)) splitter.Feed(piece, see);
  splitter.Finish(see);
  out.terminal = reader.End(splitter.tail());
  return out;
}

class StreamFixturesTest : public testing::TestWithParam<Fixture> {};

TEST_P(StreamFixturesTest, MeanWhatIsRecordedAtEveryReadSize) {
  const Fixture& fixture = GetParam();
  for (const size_t size : kReadSizes) {
    SCOPED_TRACE(size);
    StreamReader reader(DialectNamed(fixture.dialect));
    const Outcome got = ReadAll(fixture, size, reader);

    ASSERT_EQ(got.valid.size(), fixture.events.size());
    for (size_t i = 0; i < got.valid.size(); ++i) {
      EXPECT_EQ(got.valid[i], fixture.events[i].valid) << "event " << i;
    }
    EXPECT_EQ(ToString(got.terminal), fixture.terminal);
    EXPECT_EQ(reader.finish_reason(), fixture.finish_reason);
    EXPECT_EQ(reader.usage(), fixture.usage);
    EXPECT_EQ(got.usage_event, fixture.usage_event);
    EXPECT_EQ(got.first_frame, fixture.first_frame);
    EXPECT_EQ(got.first_frame && got.error_event == got.first_frame, fixture.first_frame_is_error);
    EXPECT_EQ(got.failover_ok, fixture.failover_ok_before_commit);

    ASSERT_EQ(reader.error() != nullptr, fixture.error.has_value());
    if (!fixture.error) continue;
    EXPECT_EQ(reader.error()->message, fixture.error->message);
    EXPECT_EQ(reader.error()->type, fixture.error->type);
    EXPECT_EQ(reader.error()->code, fixture.error->code);
    EXPECT_EQ(got.error_event, fixture.error->event);
  }
}

// A frame that was recognised, not parsed, must mean what parsing it says: a new reader has to
// parse.
TEST_P(StreamFixturesTest, MeanTheSameFrameByFrameToANewReader) {
  const Dialect dialect = DialectNamed(GetParam().dialect);
  StreamReader reader(dialect);
  bool ended = false;
  sse::Splitter().Feed(GetParam().body, [&](const sse::Frame& frame) {
    if (ended) return;
    const FrameView got = reader.Read(frame);
    const FrameView fresh = StreamReader(dialect).Read(frame);
    EXPECT_EQ(got.valid, fresh.valid) << frame.data;
    EXPECT_EQ(got.content, fresh.content) << frame.data;
    EXPECT_EQ(got.usage_changed, fresh.usage_changed) << frame.data;
    EXPECT_EQ(got.error, fresh.error) << frame.data;
    EXPECT_EQ(got.done, fresh.done) << frame.data;
    ended = got.done;
  });
}

INSTANTIATE_TEST_SUITE_P(Streams, StreamFixturesTest, testing::ValuesIn(EventStreamFixtures()),
                         NameOfFixture);

class BodyFixturesTest : public testing::TestWithParam<Fixture> {};

TEST_P(BodyFixturesTest, MeanWhatIsRecorded) {
  const Fixture& fixture = GetParam();
  bool complete = false;
  EXPECT_EQ(UsageOfBody(DialectNamed(fixture.dialect), fixture.body, &complete), fixture.usage);
  EXPECT_EQ(complete, fixture.terminal != "truncated");
  const std::optional<UpstreamError> error = ErrorOfBody(fixture.body);
  ASSERT_EQ(error.has_value(), fixture.error.has_value());
  if (!error) return;
  EXPECT_EQ(error->message, fixture.error->message);
  EXPECT_EQ(error->type, fixture.error->type);
  EXPECT_EQ(error->code, fixture.error->code);
}

INSTANTIATE_TEST_SUITE_P(Bodies, BodyFixturesTest, testing::ValuesIn(JsonFixtures()),
                         NameOfFixture);

}  // namespace
}  // namespace sluice::dialect
