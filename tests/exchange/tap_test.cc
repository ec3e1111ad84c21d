#include "lib/exchange/tap.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

FrameInfo FrameOf(uint64_t index, absl::string_view data) {
  FrameInfo frame;
  frame.index = index;
  frame.event = "delta";
  frame.data = data;
  return frame;
}

TEST(TapTest, HandsOverWhatCameSinceTheLastTime) {
  Tap tap;
  tap.Put(FrameOf(0, "a"));
  tap.Put(FrameOf(1, "bc"));
  const Tap::Batch first = tap.Take();
  ASSERT_EQ(first.frames.size(), 2u);
  EXPECT_EQ(first.frames[1].index, 1u);
  EXPECT_EQ(first.frames[1].event, "delta");
  EXPECT_EQ(first.frames[1].data, "bc");
  EXPECT_EQ(first.lost, 0u);
  EXPECT_FALSE(first.ended.has_value());
  EXPECT_TRUE(tap.Take().frames.empty());
}

TEST(TapTest, CopiesTheBeginningOfALongFrame) {
  Tap tap;
  const std::string data(Tap::kMaxFrameBytes + 10, 'x');
  tap.Put(FrameOf(0, data));
  const Tap::Batch batch = tap.Take();
  EXPECT_EQ(batch.frames[0].data.size(), Tap::kMaxFrameBytes);
  EXPECT_EQ(batch.frames[0].data_bytes, data.size());
}

TEST(TapTest, TellsALossWhereItWas) {
  Tap tap;
  uint64_t put = 0;
  while (put < Tap::kMaxHeldFrames + 3) tap.Put(FrameOf(put++, "x"));
  const Tap::Batch before = tap.Take();
  EXPECT_EQ(before.lost, 0u);
  EXPECT_EQ(before.frames.size(), Tap::kMaxHeldFrames);
  tap.Put(FrameOf(put, "x"));
  tap.End(Cause::kCompleted);
  const Tap::Batch after = tap.Take();
  EXPECT_EQ(after.lost, 3u);
  ASSERT_EQ(after.frames.size(), 1u);
  EXPECT_EQ(after.frames[0].index, put);
  EXPECT_EQ(after.ended, Cause::kCompleted);
}

TEST(TapTest, HoldsAtMostItsBytes) {
  Tap tap;
  const std::string data(Tap::kMaxFrameBytes - 5, 'x');  // 5 are for the name
  size_t fits = 0;
  while (fits * Tap::kMaxFrameBytes < Tap::kMaxHeldBytes) tap.Put(FrameOf(fits++, data));
  tap.Put(FrameOf(fits, ""));  // no room for its name
  tap.Put(FrameOf(fits + 1, data));
  EXPECT_EQ(tap.Take().frames.size(), fits);
  EXPECT_EQ(tap.Take().lost, 2u);
}

TEST(TapTest, EndsOnlyAfterALossAtTheEndWasTold) {
  Tap tap;
  for (size_t i = 0; i < Tap::kMaxHeldFrames + 1; ++i) tap.Put(FrameOf(i, "x"));
  tap.End(Cause::kClientGone);
  EXPECT_FALSE(tap.Take().ended.has_value());
  const Tap::Batch last = tap.Take();
  EXPECT_EQ(last.lost, 1u);
  EXPECT_EQ(last.ended, Cause::kClientGone);
}

}  // namespace
}  // namespace sluice
