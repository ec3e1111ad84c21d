#include <cstdlib>
#include <malloc.h>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/sse/splitter.h"

namespace {

// What operator new has handed out in this program: calls, bytes owned now, and the most ever
// owned.
size_t g_calls = 0;
size_t g_owned = 0;
size_t g_peak = 0;

}  // namespace

void* operator new(size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  ++g_calls;
  g_owned += malloc_usable_size(memory);
  if (g_owned > g_peak) g_peak = g_owned;
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  g_owned -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace sluice::sse {
namespace {

constexpr size_t kLimit = size_t{64} << 10;
constexpr size_t kGrowing =
    3;  // a string that grows to the limit holds its old and its doubled buffer

class SplitterMemoryTest : public testing::Test {
 protected:
  void SetUp() override { Reset(); }

  void Reset() {
    calls_ = g_calls;
    owned_ = g_peak = g_owned;
  }
  void Feed(absl::string_view piece) {
    splitter_.Feed(piece, [this](const Frame&) { ++frames_; });
  }
  /// Feeds `piece` until `bytes` were fed.
  void FeedRepeatedly(absl::string_view piece, size_t bytes) {
    for (size_t fed = 0; fed < bytes; fed += piece.size()) Feed(piece);
  }
  size_t calls() const { return g_calls - calls_; }
  size_t owned() const { return g_owned - owned_; }
  size_t peak() const { return g_peak - owned_; }

  Splitter splitter_{kLimit};
  size_t frames_ = 0;

 private:
  size_t calls_ = 0;
  size_t owned_ = 0;
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
