#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"

#include "lib/sse/splitter.h"
#include "tests/sse/stream_fixtures.h"

namespace sluice::sse {
namespace {

/// A frame with its views copied, and when it was delivered.
struct Seen {
  std::string event;
  std::string data;
  uint64_t start = 0;
  uint64_t end = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t fed_before = 0;  // bytes fed when the read began that delivered it
  uint64_t fed = 0;         // and when it ended
};

struct Outcome {
  std::vector<Seen> events;
  std::optional<std::string> tail;
  uint64_t comments = 0;
};

Outcome Split(const std::vector<absl::string_view>& pieces) {
  Outcome out;
  Splitter splitter;
  uint64_t fed_before = 0;
  const auto see = [&](const Frame& frame) {
    if (frame.error_line) return;
    Seen seen{
        std::string(frame.event), std::string(frame.data), frame.start, frame.end, {}, fed_before,
        splitter.offset()};
    for (const Range& range : frame.ranges) seen.ranges.emplace_back(range.start, range.end);
    out.events.push_back(std::move(seen));
  };
  for (const absl::string_view piece : pieces) {
    fed_before = splitter.offset();
    splitter.Feed(piece, see);
  }
  fed_before = splitter.offset();
  splitter.Finish(see);
  out.tail = splitter.tail();
  out.comments = splitter.comments();
  return out;
}

/// Everything but when frames were delivered.
void ExpectAsRecorded(const Fixture& fixture, const Outcome& got) {
  ASSERT_EQ(got.events.size(), fixture.events.size());
  std::vector<std::pair<uint64_t, uint64_t>> valid_frames;
  std::string strict;
  for (size_t i = 0; i < got.events.size(); ++i) {
    const Seen& seen = got.events[i];
    const FixtureEvent& wanted = fixture.events[i];
    SCOPED_TRACE(i);
    EXPECT_EQ(seen.event, wanted.event);
    EXPECT_EQ(seen.data, wanted.data);
    EXPECT_EQ(seen.start, wanted.start);
    EXPECT_EQ(seen.end, wanted.end);
    if (!wanted.valid) continue;
    for (const auto& [start, end] : seen.ranges) {
      valid_frames.emplace_back(start, end);
      strict += fixture.body.substr(start, end - start);
    }
  }
  EXPECT_EQ(valid_frames, fixture.valid_frames);
  EXPECT_EQ(strict.size(), fixture.strict_relay_bytes);
  EXPECT_EQ(Sha256Hex(strict), fixture.strict_relay_sha256);

  EXPECT_EQ(got.comments, fixture.comments);
  EXPECT_EQ(got.tail.has_value(), fixture.has_tail);
  EXPECT_EQ(absl::StripAsciiWhitespace(got.tail.value_or("")) == "[DONE]", fixture.tail_reads_done);
}

class SplitterFixturesTest : public testing::TestWithParam<Fixture> {};

TEST_P(SplitterFixturesTest, GivesTheRecordedFramesAtEveryReadSize) {
  for (const size_t size : kReadSizes) {
    SCOPED_TRACE(size);
    ExpectAsRecorded(GetParam(), Split(Pieces(GetParam().body, size)));
  }
}

TEST_P(SplitterFixturesTest, DeliversEachFrameInTheReadThatCompletesIt) {
  const std::string& body = GetParam().body;
  for (const size_t size : kReadSizes) {
    SCOPED_TRACE(size);
    const Outcome got = Split(Pieces(body, size));
    ASSERT_EQ(got.events.size(), GetParam().events.size());
    for (size_t i = 0; i < got.events.size(); ++i) {
      SCOPED_TRACE(i);
      const FixtureEvent& wanted = GetParam().events[i];
      // After a CR that ends it, one byte more may be waited for, or the end.
      const uint64_t grace = body[wanted.end - 1] == '\r' ? 1 : 0;
      EXPECT_GE(got.events[i].fed, wanted.earliest);
      EXPECT_LT(got.events[i].fed_before, wanted.end + grace);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Streams, SplitterFixturesTest, testing::ValuesIn(EventStreamFixtures()),
                         NameOfFixture);

/// The bodies that are short enough to cut everywhere.
std::vector<Fixture> ShortFixtures() {
  std::vector<Fixture> fixtures = EventStreamFixtures();
  std::erase_if(fixtures, [](const Fixture& fixture) { return fixture.body.size() > 2048; });
  return fixtures;
}

class SplitterCutTest : public testing::TestWithParam<Fixture> {};

TEST_P(SplitterCutTest, GivesTheRecordedFramesAtEveryTwoWaySplit) {
  const absl::string_view body = GetParam().body;
  for (size_t cut = 1; cut < body.size(); ++cut) {
    SCOPED_TRACE(cut);
    ExpectAsRecorded(GetParam(), Split({body.substr(0, cut), body.substr(cut)}));
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Streams, SplitterCutTest, testing::ValuesIn(ShortFixtures()),
                         NameOfFixture);

TEST(SplitterWorkedExampleTest, CompletesFramesInTheReadsCountedByHand) {
  const Fixture& fixture = FixtureNamed("chat_worked_example");
  const Outcome got = Split(Pieces(fixture.body, 40));
  std::vector<uint64_t> sizes, reads;
  for (const Seen& seen : got.events) {
    sizes.push_back(seen.end - seen.start);
    reads.push_back((seen.fed + 39) / 40);
  }
  EXPECT_EQ(sizes, (std::vector<uint64_t>{163, 147, 148, 156, 14}));
  EXPECT_EQ(reads, (std::vector<uint64_t>{5, 8, 12, 16, 16}));
}

}  // namespace
}  // namespace sluice::sse
