#include "lib/sse/splitter.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::sse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kNoLimit = size_t{1} << 20;

/// Each frame as one line of text: `name|data`, `!data` for an error line, `oversize` when it is.
/// The piece is gone afterwards.
std::vector<std::string> FramesOf(Splitter& splitter, absl::string_view piece) {
  std::vector<std::string> out;
  std::string bytes(piece);
  splitter.Feed(bytes, [&](const Frame& frame) {
    if (frame.oversize) {
      out.push_back("oversize");
    } else if (frame.error_line) {
      out.push_back(absl::StrCat("!", frame.data));
    } else {
      out.push_back(absl::StrCat(frame.event, "|", frame.data));
    }
  });
  bytes.assign(bytes.size(), '?');
  return out;
}

/// The frames of `stream`, which must be the same whole and byte by byte.
std::vector<std::string> FramesOf(absl::string_view stream, size_t max_frame_bytes = kNoLimit) {
  Splitter whole(max_frame_bytes);
  Splitter bytewise(max_frame_bytes);
  std::vector<std::string> out = FramesOf(whole, stream);
  std::vector<std::string> again;
  for (size_t i = 0; i < stream.size(); ++i) {
    for (std::string& frame : FramesOf(bytewise, stream.substr(i, 1))) again.push_back(frame);
  }
  EXPECT_EQ(out, again);
  EXPECT_EQ(whole.inside_event(), bytewise.inside_event());
  EXPECT_EQ(whole.comments(), bytewise.comments());
  return out;
}

std::vector<Range> RangesOf(absl::string_view stream) {
  std::vector<Range> out;
  Splitter splitter;
  splitter.Feed(stream, [&](const Frame& frame) {
    out.insert(out.end(), frame.ranges.begin(), frame.ranges.end());
  });
  return out;
}

bool InsideEventAfter(absl::string_view stream) {
  Splitter splitter;
  FramesOf(splitter, stream);
  return splitter.inside_event();
}

std::optional<std::string> TailOf(absl::string_view stream, size_t max_frame_bytes = kNoLimit) {
  Splitter splitter(max_frame_bytes);
  FramesOf(splitter, stream);
  splitter.Finish([](const Frame&) {});
  return splitter.tail();
}

TEST(SplitterTest, EndsLinesAtLfCrAndCrLf) {
  EXPECT_THAT(FramesOf("data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: d\r\n\n"),
              ElementsAre("|a", "|b", "|c", "|d"));
}

TEST(SplitterTest, TakesCrLfForOneLineEnd) {
  EXPECT_THAT(FramesOf("data: a\r\ndata: b\r\n\r\n"), ElementsAre("|a\nb"));
}

TEST(SplitterTest, EndsNoLineAtOtherSeparators) {
  const std::string data =
      "a\xE2\x80\xA8"
      "b\x85"
      "c\vd\fe";
  EXPECT_THAT(FramesOf(absl::StrCat("data: ", data, "\n\n")), ElementsAre(absl::StrCat("|", data)));
}

TEST(SplitterTest, SkipsAByteOrderMarkAtTheStartOnly) {
  EXPECT_THAT(FramesOf("\xEF\xBB\xBF"
                       "data: a\n\n\xEF\xBB\xBF"
                       "data: b\n\n"),
              ElementsAre("|a"));
  EXPECT_THAT(FramesOf("\xEF\xBB\xBF\n\ndata: a\n\n"), ElementsAre("|a"));
}

TEST(SplitterTest, RemovesOneSpaceAfterTheColon) {
  EXPECT_THAT(FramesOf("data:a\n\ndata: b\n\ndata:  c\n\ndata:\td\n\n"),
              ElementsAre("|a", "|b", "| c", "|\td"));
}

TEST(SplitterTest, JoinsDataLinesByLf) {
  EXPECT_THAT(FramesOf("data: a\r\ndata\r\ndata: b\r\n\r\n"), ElementsAre("|a\n\nb"));
  EXPECT_THAT(FramesOf("data\ndata\n\n"), ElementsAre("|\n"));
}

TEST(SplitterTest, NeedsADataLineForAnEvent) {
  EXPECT_THAT(FramesOf("event: x\nid: 1\nretry: 5\n\n: c\n\n\n\n"), IsEmpty());
  EXPECT_THAT(FramesOf("data:\n\ndata\n\n"), ElementsAre("|", "|"));
}

TEST(SplitterTest, ForgetsTheNameOfABlockWithoutData) {
  EXPECT_THAT(FramesOf("event: x\n\ndata: a\n\nevent: y\ndata: b\n\ndata: c\n\n"),
              ElementsAre("|a", "y|b", "|c"));
}

TEST(SplitterTest, TakesTheLastNameOfABlock) {
  EXPECT_THAT(FramesOf("event: x\nevent: y\ndata: a\n\nevent: x\nevent\ndata: b\n\n"),
              ElementsAre("y|a", "|b"));
}

TEST(SplitterTest, IgnoresCommentsAndUnknownFields) {
  EXPECT_THAT(FramesOf(": data: x\nDATA: x\ndata : x\n data: x\ndatax: x\nraw\ndata: a\n\n"),
              ElementsAre("|a"));
}

TEST(SplitterTest, CountsFinishedComments) {
  Splitter splitter;
  FramesOf(splitter, ": a\n\n:\ndata: x\n: b\n: c");
  EXPECT_EQ(splitter.comments(), 3u);
  FramesOf(splitter, "\n");
  EXPECT_EQ(splitter.comments(), 4u);
}

TEST(SplitterTest, ReportsABareErrorLineOnceItsBlockEnds) {
  EXPECT_THAT(FramesOf("error: {\"code\":1}\n"), IsEmpty());
  EXPECT_THAT(FramesOf("error: {\"code\":1}\n\n"), ElementsAre("!{\"code\":1}"));
  EXPECT_THAT(FramesOf("data: a\nerror:{}\n\n"), ElementsAre("!{}", "|a"));
  EXPECT_THAT(FramesOf("error: none\n\n"), IsEmpty());
}

TEST(SplitterTest, WaitsForTheByteAfterACr) {
  Splitter splitter;
  EXPECT_THAT(FramesOf(splitter, "data: a\r\n\r"), IsEmpty());
  EXPECT_THAT(FramesOf(splitter, "\n"), ElementsAre("|a"));
  EXPECT_THAT(FramesOf(splitter, "data: b\r\r"), IsEmpty());
  EXPECT_THAT(FramesOf(splitter, "d"), ElementsAre("|b"));
}

TEST(SplitterTest, FinishesALineThatALastCrEnds) {
  Splitter splitter;
  FramesOf(splitter, "data: a\r\r");
  std::vector<uint64_t> ends;
  splitter.Finish([&](const Frame& frame) { ends.push_back(frame.end); });
  EXPECT_THAT(ends, ElementsAre(9));
  EXPECT_EQ(splitter.tail(), std::nullopt);
}

TEST(SplitterTest, KeepsRemainderAcrossReads) {
  Splitter splitter;
  EXPECT_THAT(FramesOf(splitter, "event: na"), IsEmpty());
  EXPECT_THAT(FramesOf(splitter, "me\nda"), IsEmpty());
  EXPECT_THAT(FramesOf(splitter, "ta: a\ndata: b\n"), IsEmpty());
  EXPECT_THAT(FramesOf(splitter, "\ndata: c\n\n"), ElementsAre("name|a\nb", "|c"));
  EXPECT_THAT(FramesOf(splitter, "error: {}\nevent: name\ndata: a\n"), IsEmpty());
  EXPECT_THAT(FramesOf(splitter, "\n"), ElementsAre("!{}", "name|a"));
}

TEST(SplitterTest, CountsAFrameOverTheLimitWithoutItsData) {
  EXPECT_THAT(FramesOf("data: 0123456789\n\ndata: x\n\n", 16), ElementsAre("|0123456789", "|x"));
  EXPECT_THAT(FramesOf("data: 0123456789a\n\ndata: x\n\n", 16), ElementsAre("oversize", "|x"));
  EXPECT_THAT(FramesOf("data: 01234\ndata: 56789\n\n", 16), ElementsAre("|01234\n56789"));
  EXPECT_THAT(FramesOf("data: 01234\ndata: 56789a\n\n", 16), ElementsAre("oversize"));
  EXPECT_THAT(FramesOf("event: 0123456789\ndata: a\n\n", 16), ElementsAre("oversize"));
}

TEST(SplitterTest, LimitsNothingThatItDoesNotKeep) {
  const std::string filler(100, 'x');
  EXPECT_THAT(
      FramesOf(absl::StrCat(":", filler, "\n", filler, "\nid:", filler, "\ndata: a\n\n"), 16),
      ElementsAre("|a"));
  EXPECT_THAT(FramesOf(absl::StrCat("event: ", filler, "\n\ndata: a\n\n"), 16), ElementsAre("|a"));
}

TEST(SplitterTest, CountsABlockThatIsTooLongAsOversizeWhateverItsLines) {
  constexpr size_t kLimit = 24;
  for (const absl::string_view rest :
       {": comment\n", "unknown: 1\n", "id: 12345\n", "event: e\n"}) {
    const std::string block = absl::StrCat("data: a\n", rest);
    const size_t fill = kLimit - block.size() - 2;
    std::vector<bool> oversize;
    const auto note = [&oversize](const Frame& frame) { oversize.push_back(frame.oversize); };
    Splitter splitter(/*max_frame_bytes=*/1 << 20, kLimit);
    splitter.Feed(absl::StrCat(block, ":", std::string(fill - 1, '.'), "\n\n"), note);
    splitter.Feed(absl::StrCat(block, ":", std::string(fill, '.'), "\n\n"), note);
    EXPECT_THAT(oversize, ElementsAre(false, true)) << rest;
  }
}

TEST(SplitterTest, SettlesWhatNoFrameToComeHolds) {
  Splitter splitter;
  const auto ignore = [](const Frame&) {};
  const std::pair<absl::string_view, uint64_t> steps[] = {
      {": ping\n\n", 8}, {"da", 8},  {"ta: a\n", 8}, {": c\n", 8},
      {"\n", 21},        {"\r", 21}, {"x", 22}};
  for (const auto& [piece, settled] : steps) {
    splitter.Feed(piece, ignore);
    EXPECT_EQ(splitter.settled(), settled) << piece;
  }
}

TEST(SplitterTest, SettlesCommentsInFrontOfFieldsAlone) {
  Splitter splitter;
  std::vector<uint64_t> fields_starts;
  const auto note = [&](const Frame& frame) { fields_starts.push_back(frame.fields_start); };
  const std::pair<absl::string_view, uint64_t> steps[] = {
      {": ping\n\n", 8}, {": pi", 8},        {"ng\n", 15},  {"id: 1\n", 15}, {"data: a\n", 15},
      {": c\n", 15},     {"\n:\n:\nda", 38}, {"ta: b", 38}, {"\n\n", 47}};
  for (const auto& [piece, settled] : steps) {
    splitter.Feed(piece, note);
    EXPECT_EQ(splitter.fields_settled(), settled) << piece;
  }
  EXPECT_THAT(fields_starts, ElementsAre(15, 38));
}

TEST(SplitterTest, CountsABlockOfTooManyRangesAsOversize) {
  std::string stream = "data: a\n";
  for (int i = 0; i < 2000; ++i) stream += "x\n:\n";
  EXPECT_THAT(FramesOf(stream + "\n"), ElementsAre("oversize"));
}

TEST(SplitterTest, LeavesUnknownFieldsOutOfTheRanges) {
  EXPECT_THAT(RangesOf("\n: c\ndata: a\nid: 1\n\n"), ElementsAre(Range{1, 20}));
  EXPECT_THAT(RangesOf("raw\ndata: a\nraw\n\n"), ElementsAre(Range{4, 12}, Range{16, 17}));
  EXPECT_THAT(RangesOf("data: a\nerror: {}\nraw\n:\n\n"), ElementsAre(Range{0, 8}, Range{22, 25}));
}

TEST(SplitterTest, IsInsideAnEventFromItsFirstByteToItsBlankLine) {
  EXPECT_FALSE(InsideEventAfter(""));
  EXPECT_TRUE(InsideEventAfter("d"));
  EXPECT_TRUE(InsideEventAfter("data: a\n"));
  EXPECT_FALSE(InsideEventAfter("data: a\n\n"));
  EXPECT_FALSE(InsideEventAfter("data: a\r\n\r"));
  EXPECT_TRUE(InsideEventAfter("data: a\r"));
  EXPECT_TRUE(InsideEventAfter("id: 1\n"));
}

TEST(SplitterTest, IsInsideACommentOnlyUntilItsLineEnds) {
  EXPECT_TRUE(InsideEventAfter(": pi"));
  EXPECT_FALSE(InsideEventAfter(": ping\n"));
  EXPECT_FALSE(InsideEventAfter(": ping\r"));
}

TEST(SplitterTest, HasNoTailAfterABlankLineAndComments) {
  EXPECT_EQ(TailOf(""), std::nullopt);
  EXPECT_EQ(TailOf("\xEF\xBB\xBF"), std::nullopt);
  EXPECT_EQ(TailOf("data: a\n\n: ping\n: pi"), std::nullopt);
}

TEST(SplitterTest, HasTheDataCutOffAsTail) {
  EXPECT_EQ(TailOf("data: a\n\ndata: [DONE]"), "[DONE]");
  EXPECT_EQ(TailOf("data: [DONE]\n: c"), "[DONE]");
  EXPECT_EQ(TailOf("data: a\ndata: b\r"), "a\nb");
  EXPECT_EQ(TailOf("data: a\ndata"), "a\n");
  EXPECT_EQ(TailOf("event: x\n"), "");
  EXPECT_EQ(TailOf("raw"), "");
  EXPECT_EQ(TailOf("data: [DONE]" + std::string(100, ' '), 16), "");
}

}  // namespace
}  // namespace sluice::sse
