#include "lib/events/hub.h"

#include <algorithm>
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

/// Random schedules of publishing and reading, checked against the plain list of all that was
/// published.
TEST(HubTest, AgreesWithAPlainListUnderRandomSchedules) {
  struct Cursor {
    Reader reader;
    uint64_t position;  // as the list sees it
  };
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const size_t capacity = 1 + random() % 300;
    Hub hub({.capacity = capacity});
    std::vector<uint64_t> published;
    std::vector<Cursor> cursors;
    for (int step = 0; step < 200; ++step) {
      const uint32_t choice = random() % 10;
      if (choice < 5) {
        for (uint32_t n = random() % 100; n > 0; --n) {
          published.push_back(random());
          hub.Publish(Numbered(published.back()));
        }
      } else if (choice < 6 || cursors.empty()) {
        const uint64_t position = random() % (published.size() + 1);
        cursors.push_back({Reader(hub, position), position});
      } else {
        Cursor& cursor = cursors[random() % cursors.size()];
        const Reader::Batch batch = cursor.reader.Read();
        const uint64_t oldest = published.size() - std::min(published.size(), capacity);
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
  EXPECT_EQ(stuck.Read().lost, kPublishers * kEach - 1000);
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
