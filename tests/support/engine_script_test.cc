#include "tests/support/engine_script.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;

TEST(SplitEventsTest, CutsAfterEachBlankLine) {
  EXPECT_THAT(SplitEvents("data: a\n\n: ping\n\nevent: x\ndata: b\n\n"),
              ElementsAre("data: a\n\n", ": ping\n\n", "event: x\ndata: b\n\n"));
}

TEST(SplitEventsTest, KeepsEveryByteOfCrLfAndOfTheTail) {
  const absl::string_view stream = "data: a\r\n\r\n\r\ndata: b\r\n\r\ndata: cut";
  EXPECT_THAT(SplitEvents(stream),
              ElementsAre("data: a\r\n\r\n", "\r\n", "data: b\r\n\r\n", "data: cut"));
  EXPECT_EQ(absl::StrJoin(SplitEvents(stream), ""), stream);
}

TEST(SplitBytesTest, LeavesTheRestToTheLastPiece) {
  EXPECT_THAT(SplitBytes("abcdefg", 3), ElementsAre("abc", "def", "g"));
  EXPECT_THAT(SplitBytes("abc", 3), ElementsAre("abc"));
  EXPECT_THAT(SplitBytes("", 3), ElementsAre());
}

TEST(ScriptTest, CountsPiecesOfNestedLoops) {
  const Script inner = Script().Chunk("x").Pause(Duration(1)).Chunk("y");
  const Script outer = Script().Chunk("a").Repeat(3, inner);
  EXPECT_EQ(Script().SseHead().Repeat(2, outer).Chunk("z").LastChunk().piece_count(), 15u);
}

TEST(ScriptTest, KnowsNoPieceCountOfAnEndlessAnswer) {
  EXPECT_EQ(Script().Repeat(kForever, Script().Chunk("x")).piece_count(), std::nullopt);
}

TEST(ScriptTest, KeepsACopyApartFromLaterSteps) {
  Script first = Script().Chunk("a");
  Script second = first;
  second.Chunk("b");
  first.Chunk("c").Chunk("d");
  EXPECT_EQ(first.piece_count(), 3u);
  EXPECT_EQ(second.piece_count(), 2u);
}

}  // namespace
}  // namespace sluice::testing
