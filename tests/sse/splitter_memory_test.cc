#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/sse/splitter.h"
#include "tests/support/heap_count.h"

namespace sluice::sse {
namespace {

constexpr size_t kLimit = size_t{64} << 10;
constexpr size_t kGrowing =
    3;  // a string that grows to the limit holds its old and its doubled buffer

class SplitterMemoryTest : public ::testing::Test {
 protected:
  void Reset() { heap_.Reset(); }
  void Feed(absl::string_view piece) {
    splitter_.Feed(piece, [this](const Frame&) { ++frames_; });
  }
  /// Feeds `piece` until `bytes` were fed.
  void FeedRepeatedly(absl::string_view piece, size_t bytes) {
    for (size_t fed = 0; fed < bytes; fed += piece.size()) Feed(piece);
  }
  size_t calls() const { return heap_.calls(); }
  size_t owned() const { return heap_.owned(); }
  size_t peak() const { return heap_.peak(); }

  Splitter splitter_{kLimit};
  size_t frames_ = 0;

 private:
  testing::HeapCount heap_;
};

TEST_F(SplitterMemoryTest, AllocatesNothingForFramesWholeInOnePiece) {
  const std::string frame =
      absl::StrCat("event: name\r\ndata: ", std::string(500, 'x'), "\r\n\r\n");
  const std::string piece = absl::StrCat(": ping\n\n", frame, frame, frame);
  Reset();
  FeedRepeatedly(piece, 100 * piece.size());
  EXPECT_EQ(frames_, 300u);
  EXPECT_EQ(calls(), 0u);
}

TEST_F(SplitterMemoryTest, OwnsNothingWhileNothingIsPending) {
  const std::string text(5000, 'x');
  const std::string first = absl::StrCat("raw\nevent: ", text, "\ndata: ", text, "\ndata: ", text);
  const std::string second = absl::StrCat("\nerror: {", text, "\nraw\n\n");
  Reset();
  Feed(first);
  EXPECT_GT(owned(), 2 * text.size());
  Feed(second);
  EXPECT_EQ(frames_, 2u);
  EXPECT_EQ(owned(), 0u);
}

TEST_F(SplitterMemoryTest, KeepsNoMoreThanTheLimitOfALineThatNeverEnds) {
  const std::string piece(4096, 'x');
  Reset();
  Feed("data: ");
  FeedRepeatedly(piece, size_t{16} << 20);
  EXPECT_LE(peak(), kGrowing * kLimit);
  EXPECT_LE(calls(), 64u);
  EXPECT_LT(owned(), 256u);
  Feed("\n\n");
  EXPECT_EQ(frames_, 1u);
  EXPECT_EQ(owned(), 0u);
}

TEST_F(SplitterMemoryTest, KeepsNoMoreThanTheLimitOfABlockThatNeverEnds) {
  for (const absl::string_view line :
       {"data: x\n", "event: x\n", "error: {\n", ": x\n", "x\n:\n"}) {
    SCOPED_TRACE(line);
    std::string piece;
    while (piece.size() < 4096) absl::StrAppend(&piece, line);
    Reset();
    FeedRepeatedly(piece, size_t{4} << 20);
    EXPECT_LE(peak(), kGrowing * kLimit);
    EXPECT_LE(calls(), 64u);
    EXPECT_LT(owned(), 256u);
    Feed("\n\n");
    EXPECT_EQ(owned(), 0u);
  }
}

TEST_F(SplitterMemoryTest, KeepsNothingOfEmptyLines) {
  const std::string piece(4096, '\n');
  Reset();
  FeedRepeatedly(piece, size_t{4} << 20);
  EXPECT_EQ(calls(), 0u);
  EXPECT_EQ(frames_, 0u);
}

}  // namespace
}  // namespace sluice::sse
