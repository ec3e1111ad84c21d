#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "tests/relay/relay_test.h"
#include "tests/sse/stream_fixtures.h"

// `relay: VALID_FRAMES`: which bytes pass, and what is said of those that do not.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;

class ValidFramesTest : public RelayTest {
 protected:
  ValidFramesTest() { ConfigureFilter(); }

  void ConfigureFilter(config::CommitPoint commit = config::CommitPoint::kFirstFrame) {
    Configure({"a"}, [commit](config::Pool& pool) {
      pool.relay = config::RelayMode::kValidFrames;
      pool.commit = commit;
    });
  }

  void PlayBody(absl::string_view body, size_t read_size = 65536) {
    transport_.Play(Script().Head(200, kEventStreamType).Body(body, read_size).End());
  }
};

class ValidFramesOfRecordedStreamTest
    : public ValidFramesTest,
      public ::testing::WithParamInterface<std::tuple<Fixture, size_t>> {
 protected:
  void ExpectStrictBody() const {
    const Fixture& fixture = std::get<0>(GetParam());
    const std::string passed = sink_.body().substr(0, fixture.strict_relay_bytes);
    EXPECT_EQ(Sha256Hex(passed), fixture.strict_relay_sha256) << passed;
    const std::string added = sink_.body().substr(passed.size());
    if (cause() == Cause::kCompleted) {
      EXPECT_EQ(added, "");
    }
    EXPECT_TRUE(added.empty() || absl::StartsWith(added, "data: {\"error\"") ||
                absl::StartsWith(added, "event: error\n"))
        << added;
    EXPECT_TRUE(finished().valid_frames_only);
    EXPECT_EQ(finished().dropped_bytes, fixture.body.size() - fixture.strict_relay_bytes);
    EXPECT_EQ(finished().dropped_stretches, Stretches(fixture));
    EXPECT_EQ(finished().frames, fixture.valid_frames.empty() ? 0u : ValidEvents(fixture));
  }

  static uint64_t Stretches(const Fixture& fixture) {
    uint64_t stretches = 0;
    uint64_t at = 0;
    for (const auto& [start, end] : fixture.valid_frames) {
      if (start > at) ++stretches;
      at = end;
    }
    return stretches + (fixture.body.size() > at ? 1 : 0);
  }

  static uint64_t ValidEvents(const Fixture& fixture) {
    uint64_t valid = 0;
    for (const FixtureEvent& event : fixture.events) valid += event.valid ? 1 : 0;
    return valid;
  }
};

TEST_P(ValidFramesOfRecordedStreamTest, PassTheRangesNamedAndNoMore) {
  ConfigureFilter(config::CommitPoint::kOnHead);
  PlayBody(std::get<0>(GetParam()).body, std::get<1>(GetParam()));
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  ExpectStrictBody();
}

TEST_P(ValidFramesOfRecordedStreamTest, PassWhenTheyWereHeldToo) {
  if (std::get<0>(GetParam()).failover_ok_before_commit.value_or(true)) return;
  PlayBody(std::get<0>(GetParam()).body, std::get<1>(GetParam()));
  EXPECT_EQ(Run(), Answer::Step::kEnd);
  ExpectStrictBody();
}

INSTANTIATE_TEST_SUITE_P(All, ValidFramesOfRecordedStreamTest,
                         ::testing::Combine(::testing::ValuesIn(EventStreamFixtures()),
                                            ::testing::ValuesIn(kReadSizes)),
                         [](const auto& test) {
                           return absl::StrCat(std::get<0>(test.param).name, "_by_",
                                               std::get<1>(test.param));
                         });

TEST_F(ValidFramesTest, DropsWhatIsBetweenTheFramesAndCountsIt) {
  PlayBody(
      absl::StrCat(": ping\n\n", kHello, "data: not JSON\n\n: ping\n\n", kStop, kDone, ": bye"));
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
  EXPECT_EQ(finished().dropped_bytes, 8u + 24u + 5u);
  EXPECT_EQ(finished().dropped_stretches, 3u);
  EXPECT_EQ(finished().frames, 3u);
  EXPECT_EQ(cause(), Cause::kCompleted);
}

TEST_F(ValidFramesTest, WritesAFrameOnceItIsWholeAndThenTellsIt) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece(kStop.substr(0, 9))
                      .Piece(kStop.substr(9))
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_THAT(transcript_.text(),
              HasSubstr(absl::StrCat("write ", kHello.size(), " | frame 0-", kHello.size(),
                                     " first | write ", kStop.size(), " | frame ")));
}

TEST_F(ValidFramesTest, SendsTheHeadOfAnAnswerWhoseCommentsItDrops) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(": ping\n\n")
                      .Silence(seconds(20))
                      .Piece(kHello)
                      .Piece(kStop)
                      .Piece(kDone)
                      .End());
  Run();
  EXPECT_THAT(transcript_.text(), HasSubstr("head 200 | flush | write"));
  EXPECT_EQ(*finished().stamps.first_byte - finished().stamps.accepted, seconds(10));
}

TEST_F(ValidFramesTest, DropsAnEventTooLargeToJudge) {
  const std::string huge = absl::StrCat("data: {\"text\":\"", std::string(2 << 20, 'x'), "\"}\n\n");
  for (const size_t read_size : {size_t{4096}, size_t{16} << 20}) {
    PlayBody(absl::StrCat(kHello, huge, kStop, kDone), read_size);
    testing::RecordingSink sink(transcript_);
    const std::unique_ptr<Answer> answer = Serve();
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    EXPECT_EQ(sink.body(), absl::StrCat(kHello, kStop, kDone));
    EXPECT_EQ(observer_.finished().back().dropped_bytes, huge.size());
    EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
  }
}

TEST_F(ValidFramesTest, DropsAnEventOfTooManyCommentsAsItIsObserved) {
  std::string huge;
  while (huge.size() <= sse::Splitter().max_block_bytes()) huge += ": comment\n";
  PlayBody(absl::StrCat(kHello, huge, kHello, kStop, kDone), 4096);
  Run();
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
  EXPECT_EQ(finished().frames, 3u);
}

TEST_F(ValidFramesTest, TellsAnErrorThatDoesNotPass) {
  for (const absl::string_view error :
       {"error: {\"message\":\"slot gone\"}\n\n", "event: error\ndata: slot gone\n\n"}) {
    testing::RecordingSink sink(transcript_);
    PlayBody(absl::StrCat(kHello, error));
    const std::unique_ptr<Answer> answer = Serve();
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    EXPECT_EQ(sink.body(),
              absl::StrCat(kHello, dialect::ErrorEvent(
                                       dialect::Dialect::kOpenAiChat, Cause::kUpstreamErrorFrame,
                                       InfoOf(Cause::kUpstreamErrorFrame).message)));
    EXPECT_EQ(observer_.finished().back().cause, Cause::kUpstreamErrorFrame);
  }
}

TEST_F(ValidFramesTest, AddsNoBlankLineToABreakInsideAnEventThatDidNotPass) {
  transport_.Play(Script()
                      .Head(200, kEventStreamType)
                      .Piece(kHello)
                      .Piece("data: {\"cut")
                      .Fail(Cause::kUpstreamReset));
  Run();
  EXPECT_EQ(
      sink_.body(),
      absl::StrCat(kHello, dialect::ErrorEvent(dialect::Dialect::kOpenAiChat, Cause::kUpstreamReset,
                                               InfoOf(Cause::kUpstreamReset).message)));
  EXPECT_EQ(finished().dropped_bytes, 11u);
}

TEST_F(ValidFramesTest, LeavesOtherBodiesAlone) {
  transport_.Play(Script().Head(200, "application/json").Piece("{\"a\": 1}\n").End());
  Run();
  EXPECT_EQ(sink_.body(), "{\"a\": 1}\n");
  EXPECT_FALSE(finished().valid_frames_only);
}

}  // namespace
}  // namespace sluice::relay
