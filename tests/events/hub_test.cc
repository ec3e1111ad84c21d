#include "lib/events/hub.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace sluice::events {
namespace {

Event Numbered(uint64_t number) {
  Event event;
  event.what = Chunk{.index = number};
  return event;
}

uint64_t NumberOf(const Event& event) { return std::get<Chunk>(event.what).index; }

TEST(HubTest, NumbersEventsFromOne) {
  Hub hub;
  Reader reader(hub, 0);
  hub.Publish(Numbered(7));
  hub.Publish(Numbered(8));
  const Reader::Batch batch = reader.Read();
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.lost, 0u);
  EXPECT_EQ(batch.events[0].sequence, 1u);
  EXPECT_EQ(NumberOf(batch.events[0]), 7u);
  EXPECT_EQ(batch.events[1].sequence, 2u);
  EXPECT_EQ(reader.position(), 2u);
}

TEST(HubTest, GivesAReaderNothingTwice) {
  Hub hub;
  Reader reader(hub, 0);
  hub.Publish(Numbered(1));
  EXPECT_EQ(reader.Read().events.size(), 1u);
  EXPECT_TRUE(reader.Read().events.empty());
}

TEST(HubTest, BoundsABatch) {
  Hub hub;
  Reader reader(hub, 0);
  for (size_t i = 0; i <= Reader::kMaxBatch; ++i) hub.Publish(Numbered(i));
  EXPECT_EQ(reader.Read().events.size(), Reader::kMaxBatch);
  EXPECT_EQ(reader.Read().events.size(), 1u);
}

TEST(HubTest, CountsExactlyWhatASlowReaderLost) {
  Hub hub({.capacity = 4});
  Reader reader(hub, 0);
  for (uint64_t i = 1; i <= 4; ++i) hub.Publish(Numbered(i));
  EXPECT_EQ(Reader(hub, 0).Read().lost, 0u);
  for (uint64_t i = 5; i <= 10; ++i) hub.Publish(Numbered(i));
  const Reader::Batch batch = reader.Read();
  EXPECT_EQ(batch.lost, 6u);
  ASSERT_EQ(batch.events.size(), 4u);
  EXPECT_EQ(NumberOf(batch.events[0]), 7u);
  EXPECT_EQ(reader.Read().lost, 0u);
}

TEST(HubTest, ReportsItsFill) {
  Hub hub({.capacity = 2});
  EXPECT_EQ(hub.stats().size, 0u);
  for (int i = 0; i < 3; ++i) hub.Publish(Numbered(0));
  EXPECT_EQ(hub.stats().capacity, 2u);
  EXPECT_EQ(hub.stats().size, 2u);
  EXPECT_EQ(hub.stats().published, 3u);
}

TEST(HubTest, KeepsTheLatestEventsWhenItShrinks) {
  Hub hub({.capacity = 1000});
  Reader early(hub, 0);
  Reader late(hub, 0);
  for (uint64_t i = 1; i <= 1000; ++i) hub.Publish(Numbered(i));
  while (late.position() < 990) late.Read();
  hub.Resize(3);
  EXPECT_EQ(hub.stats().capacity, 3u);
  EXPECT_EQ(hub.stats().size, 3u);
  EXPECT_EQ(early.Read().lost, 997u);
  EXPECT_EQ(Reader(hub, 0).Read().events.front().sequence, 998u);
  EXPECT_EQ(late.Read().lost, 0u) << "it had read all that was given up";
}

TEST(HubTest, LosesNothingWhenItGrows) {
  Hub hub({.capacity = 2});
  for (uint64_t i = 1; i <= 3; ++i) hub.Publish(Numbered(i));
  hub.Resize(4);
  for (uint64_t i = 4; i <= 5; ++i) hub.Publish(Numbered(i));
  const Reader::Batch batch = Reader(hub, 0).Read();
  EXPECT_EQ(batch.lost, 1u);
  ASSERT_EQ(batch.events.size(), 4u);
  EXPECT_EQ(NumberOf(batch.events[0]), 2u);
}

TEST(HubTest, FindsTheFirstEventOfATime) {
  Hub hub({.capacity = 3});
  EXPECT_EQ(hub.PositionAt(absl::UnixEpoch()), 0u);
  for (const int second : {1, 2, 5, 4, 6}) {
    Event event = Numbered(0);
    event.time = absl::FromUnixSeconds(second);
    hub.Publish(event);
  }
  EXPECT_EQ(hub.PositionAt(absl::FromUnixSeconds(1)), 2u) << "older ones are held no more";
  EXPECT_EQ(hub.PositionAt(absl::FromUnixSeconds(4)), 2u) << "the order is only rough";
  EXPECT_EQ(hub.PositionAt(absl::FromUnixSeconds(6)), 4u) << "that time is included";
  EXPECT_EQ(hub.PositionAt(absl::FromUnixSeconds(7)), 5u) << "the next to come";
}

/// Random schedules of publishing, reading, searching and resizing, checked against the plain list
/// of all that was published.
TEST(HubTest, AgreesWithAPlainListUnderRandomSchedules) {
  struct Cursor {
    Reader reader;
    uint64_t position;  // as the list sees it
  };
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    size_t capacity = 1 + random() % 300;
    Hub hub({.capacity = capacity});
    std::vector<uint64_t> published;
    std::vector<absl::Time> times;
    size_t oldest = 0;  // the first in `published` that is held
    std::vector<Cursor> cursors;
    for (int step = 0; step < 200; ++step) {
      const uint32_t choice = random() % 12;
      if (choice < 5) {
        for (uint32_t n = random() % 100; n > 0; --n) {
          published.push_back(random());
          times.push_back(absl::FromUnixSeconds(published.size() + random() % 20));
          Event event = Numbered(published.back());
          event.time = times.back();
          hub.Publish(std::move(event));
          oldest = std::max(oldest, published.size() - std::min(published.size(), capacity));
        }
      } else if (choice == 10) {
        capacity = 1 + random() % 1000;
        hub.Resize(capacity);
        oldest = std::max(oldest, published.size() - std::min(published.size(), capacity));
        ASSERT_EQ(hub.stats().size, published.size() - oldest);
      } else if (choice == 11) {
        const absl::Time time = absl::FromUnixSeconds(random() % (published.size() + 30));
        const auto found = std::find_if(times.begin() + oldest, times.end(),
                                        [time](absl::Time t) { return t >= time; });
        ASSERT_EQ(hub.PositionAt(time), static_cast<uint64_t>(found - times.begin()));
      } else if (choice < 6 || cursors.empty()) {
        const uint64_t position = random() % (published.size() + 1);
        cursors.push_back({Reader(hub, position), position});
      } else {
        Cursor& cursor = cursors[random() % cursors.size()];
        const Reader::Batch batch = cursor.reader.Read();
        ASSERT_EQ(batch.lost, oldest > cursor.position ? oldest - cursor.position : 0);
        cursor.position += batch.lost;
        ASSERT_EQ(batch.events.size(),
                  std::min<size_t>(published.size() - cursor.position, Reader::kMaxBatch));
        for (const Event& event : batch.events) {
          ASSERT_EQ(NumberOf(event), published[cursor.position++]);
          ASSERT_EQ(event.sequence, cursor.position);
        }
        ASSERT_EQ(cursor.reader.position(), cursor.position);
      }
    }
  }
}

TEST(HubTest, KeepsTheOrderOfEachOfSeveralPublishersAndLosesNothingUncounted) {
  constexpr size_t kCapacities[] = {1000, 10, 700, 1};
  constexpr uint64_t kPublishers = 4;
  constexpr uint64_t kEach = 20'000;
  Hub hub({.capacity = 1000});
  std::vector<std::thread> publishers;
  for (uint64_t p = 0; p < kPublishers; ++p) {
    publishers.emplace_back([&hub, p] {
      for (uint64_t i = 0; i < kEach; ++i) hub.Publish(Numbered(p * kEach + i));
    });
  }
  Reader stuck(hub, 0);
  Reader reader(hub, 0);
  std::vector<uint64_t> next(kPublishers, 0);
  uint64_t received = 0;
  uint64_t lost = 0;
  while (received + lost < kPublishers * kEach) {
    hub.WaitPast(reader.position(), std::chrono::minutes(1));
    hub.Resize(kCapacities[received % std::size(kCapacities)]);
    const Reader::Batch batch = reader.Read();
    lost += batch.lost;
    received += batch.events.size();
    for (const Event& event : batch.events) {
      const uint64_t publisher = NumberOf(event) / kEach;
      ASSERT_GE(NumberOf(event) % kEach, next[publisher]);
      next[publisher] = NumberOf(event) % kEach + 1;
    }
  }
  for (std::thread& publisher : publishers) publisher.join();
  EXPECT_EQ(reader.position(), kPublishers * kEach);
  hub.Resize(1);
  EXPECT_EQ(stuck.Read().lost, kPublishers * kEach - 1);
}

/// Two threads in turn: each waits for the other's event, so that a wake-up that is lost ends the
/// play.
TEST(HubTest, WakesAWaiterWhenAnEventComes) {
  constexpr uint64_t kTurns = 1000;
  Hub serve;
  Hub answer;
  std::thread player([&] {
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      serve.WaitPast(turn, std::chrono::hours(1));
      answer.Publish(Numbered(turn));
    }
  });
  for (uint64_t turn = 0; turn < kTurns; ++turn) {
    serve.Publish(Numbered(turn));
    answer.WaitPast(turn, std::chrono::hours(1));
  }
  player.join();
  EXPECT_EQ(answer.stats().published, kTurns);
}

TEST(HubTest, WakesWaitersForGoodWhenItCloses) {
  for (int round = 0; round < 200; ++round) {
    Hub started;
    Hub hub;
    std::thread waiter([&] {
      started.Publish(Numbered(0));
      hub.WaitPast(0, std::chrono::hours(1));
    });
    started.WaitPast(0, std::chrono::hours(1));
    std::this_thread::yield();  // so that most rounds find it waiting
    hub.Close();
    waiter.join();
    hub.WaitPast(0, std::chrono::hours(1));
  }
}

TEST(HubTest, ReleasesWhatAnOverwrittenEventShared) {
  Hub hub({.capacity = 1});
  auto subject = std::make_shared<const Subject>();
  const std::weak_ptr<const Subject> watched = subject;
  Event event = Numbered(1);
  event.subject = std::move(subject);
  hub.Publish(std::move(event));
  EXPECT_FALSE(watched.expired());
  hub.Publish(Numbered(2));
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace sluice::events
