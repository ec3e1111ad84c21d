#include "lib/admission/slots.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::admission {
namespace {

using ::testing::ElementsAre;

TEST(SlotsTest, GivesAsManyAsTheLimitOfEachName) {
  Slots slots;
  const auto a = slots.TryTake("a", 2);
  const auto b = slots.TryTake("a", 2);
  EXPECT_TRUE(a && b);
  EXPECT_FALSE(slots.TryTake("a", 2));
  EXPECT_TRUE(slots.TryTake("b", 2)) << "another name";
  EXPECT_EQ(slots.Read("a"), 2);
  EXPECT_EQ(slots.Read("b"), 0);
}

TEST(SlotsTest, LimitOfZeroIsNone) {
  Slots slots;
  std::vector<std::optional<Slot>> taken;
  for (int i = 0; i < 100; ++i) taken.push_back(slots.TryTake("a", 0));
  EXPECT_EQ(slots.Read("a"), 100);
}

TEST(SlotsTest, ReturnsASlotOnceWhenItIsDestroyedOrReplaced) {
  Slots slots;
  auto first = slots.TryTake("a", 0);
  Slot moved = *std::move(first);
  first.reset();
  EXPECT_EQ(slots.Read("a"), 1) << "a slot that was moved from returns nothing";
  moved = *slots.TryTake("b", 0);
  EXPECT_EQ(slots.Read("a"), 0);
  EXPECT_EQ(slots.Read("b"), 1);
  Slot& self = moved;
  moved = std::move(self);
  EXPECT_EQ(slots.Read("b"), 1);
  { const Slot last = std::move(moved); }
  EXPECT_EQ(slots.Read("b"), 0);
}

TEST(SlotsTest, ThrowsNobodyOutWhenTheLimitDropsBelowTheCount) {
  Slots slots;
  auto a = slots.TryTake("p", 3);
  auto b = slots.TryTake("p", 3);
  auto c = slots.TryTake("p", 3);
  EXPECT_FALSE(slots.TryTake("p", 2));
  a.reset();
  EXPECT_FALSE(slots.TryTake("p", 2));
  b.reset();
  EXPECT_TRUE(slots.TryTake("p", 2));
}

TEST(SlotsTest, KeepsNoNameWithoutAnyInFlight) {
  Slots slots;
  {
    const auto a = slots.TryTake("a", 1);
    EXPECT_FALSE(slots.TryTake("a", 1));
    EXPECT_EQ(slots.Read("b"), 0);
    EXPECT_EQ(slots.size(), 1u);
  }
  EXPECT_EQ(slots.size(), 0u);
}

TEST(SlotsTest, TellsOfEachSlotThatIsFreeAgain) {
  std::vector<std::string> freed;
  Slots* self = nullptr;
  Slots slots([&](absl::string_view name) {
    freed.push_back(std::string(name));
    EXPECT_EQ(self->Read(name), 0) << "it may call back";
  });
  self = &slots;
  auto a = slots.TryTake("a-name-too-long-to-be-kept-inside", 1);
  EXPECT_THAT(freed, ElementsAre());
  a.reset();
  EXPECT_THAT(freed, ElementsAre("a-name-too-long-to-be-kept-inside"));
}

TEST(SlotsTest, TellsOfASlotGivenBackUnusedOnlyIfSomebodyWasRefused) {
  int freed = 0;
  Slots slots([&](absl::string_view) { ++freed; });
  slots.TryTake("a", 1)->GiveBackUnused();
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(slots.Read("a"), 0);
  auto taken = slots.TryTake("a", 1);
  EXPECT_FALSE(slots.TryTake("a", 1));
  std::exchange(taken, std::nullopt)->GiveBackUnused();
  EXPECT_EQ(freed, 1) << "who was refused might have had it";
  taken = slots.TryTake("a", 2);
  auto other = slots.TryTake("a", 2);
  EXPECT_FALSE(slots.TryTake("a", 2));
  other.reset();
  EXPECT_EQ(freed, 2);
  std::exchange(taken, std::nullopt)->GiveBackUnused();
  EXPECT_EQ(freed, 2) << "they have been told already";
}

TEST(SlotsTest, NeverGivesMoreThanTheLimitToManyThreads) {
  std::atomic<int> freed = 0;
  Slots slots([&](absl::string_view) { ++freed; });
  std::atomic<int> running = 0;
  std::atomic<int> taken = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        const auto slot = slots.TryTake("p", 2);
        if (!slot) continue;
        ++taken;
        if (++running > 2) over = true;
        --running;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(over);
  EXPECT_EQ(slots.Read("p"), 0);
  EXPECT_EQ(freed, taken);
}

}  // namespace
}  // namespace sluice::admission
