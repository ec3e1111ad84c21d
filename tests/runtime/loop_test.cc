#include "lib/runtime/loop.h"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/runtime/blocking.h"
#include "lib/runtime/latch.h"
#include "lib/runtime/socket.h"
#include "tests/runtime/fiber_fixture.h"

namespace sluice::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TEST(LoopTest, RunsFibersInTheOrderTheyBecomeReady) {
  std::vector<int> order;
  RunFiber([&] {
    Loop::Current()->Spawn([&] { order.push_back(2); });
    Loop::Current()->Spawn([&] { order.push_back(3); });
    order.push_back(1);
  });
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(LoopTest, WakesSleepersInTheOrderOfTheirDeadlines) {
  std::vector<int> order;
  RunFiber([&] {
    for (const int ms : {30, 10, 20}) {
      Loop::Current()->Spawn([&order, ms] {
        EXPECT_EQ(SleepUntil(In(milliseconds(ms))), Wake::kDeadline);
        order.push_back(ms);
      });
    }
  });
  EXPECT_THAT(order, ElementsAre(10, 20, 30));
}

TEST(LoopTest, ALaterDeadlineReplacesAnEarlierOneThatDidNotFire) {
  RunFiber([] {
    Latch opened;
    Loop::Current()->Spawn([&opened] { opened.Open(); });
    EXPECT_EQ(opened.Wait(In(milliseconds(20))), Wake::kReady);
    const Instant later = In(milliseconds(80));
    EXPECT_EQ(SleepUntil(later), Wake::kDeadline);
    EXPECT_GE(std::chrono::steady_clock::now(), later);
  });
}

TEST(LoopTest, AnEarlierDeadlineFiresBeforeTheTimerOfAFormerWait) {
  RunFiber([] {
    Latch opened;
    Loop::Current()->Spawn([&opened] { opened.Open(); });
    EXPECT_EQ(opened.Wait(In(std::chrono::hours(1))), Wake::kReady);
    EXPECT_EQ(SleepUntil(In(milliseconds(5))), Wake::kDeadline);
  });
}

TEST(LoopTest, ReusesTheStacksOfFibersThatEnded) {
  Loop loop;
  std::vector<char*> frames;
  loop.Post([&] {
    loop.Spawn([&] {
      for (int i = 0; i < 3; ++i) {
        Latch ended;
        loop.Spawn([&] {
          frames.push_back(static_cast<char*>(__builtin_frame_address(0)));
          ended.Open();
        });
        ended.Wait(kNever);
        // The other fiber is suspended at its end once this one has waited anew.
        SleepUntil(In(milliseconds(1)));
      }
    });
  });
  loop.Stop();
  loop.Run();
  EXPECT_THAT(frames, ElementsAre(frames[0], frames[0], frames[0]));
  EXPECT_EQ(loop.fibers(), 0u);
}

TEST(LoopTest, CountsFibersUntilTheyEnd) {
  RunFiber([] {
    Loop* loop = Loop::Current();
    for (int i = 0; i < 2000; ++i)
      ASSERT_TRUE(loop->Spawn([] { SleepUntil(In(milliseconds(20))); }));
    EXPECT_EQ(loop->fibers(), 2001u);
  });
}

TEST(LoopTest, RunsPostedTasksFromOtherThreads) {
  Loop loop;
  int ran = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) loop.Post([&] { ++ran; });
    loop.Stop();
  });
  loop.Run();
  other.join();
  EXPECT_EQ(ran, 1000);
}

TEST(LoopTest, KeepsWhatTheStackHoldsWhenItsUnusedPartIsReleased) {
  RunFiber([] {
    std::array<char, 5000> held;
    held.fill('s');
    ReleaseUnusedStack();
    SleepUntil(In(milliseconds(1)));
    EXPECT_EQ(std::string(held.data(), held.size()), std::string(5000, 's'));
  });
}

TEST(InterrupterTest, EndsThePresentWaitAndThoseToCome) {
  RunFiber([] {
    const Interrupter interrupter = Interrupter::Arm();
    Loop::Current()->Spawn([interrupter] { interrupter.Fire(); });
    EXPECT_EQ(SleepUntil(kNever), Wake::kInterrupted);
    EXPECT_EQ(SleepUntil(kNever), Wake::kInterrupted);
    Latch never;
    EXPECT_EQ(never.Wait(kNever), Wake::kInterrupted);
  });
}

TEST(InterrupterTest, LetsAnInterruptedFiberWaitOnceMoreAndStillBeInterrupted) {
  RunFiber([] {
    const Interrupter interrupter = Interrupter::Arm();
    interrupter.Fire();
    EXPECT_EQ(SleepUntil(In(milliseconds(5)), Interrupts::kHeedNew), Wake::kDeadline);
    Loop::Current()->Spawn([interrupter] { interrupter.Fire(); });
    EXPECT_EQ(SleepUntil(kNever, Interrupts::kHeedNew), Wake::kInterrupted);
  });
}

TEST(InterrupterTest, DoesNothingToTheFiberOnceItWasArmedAnew) {
  RunFiber([] {
    const Interrupter old = Interrupter::Arm();
    Interrupter::Arm();
    old.Fire();
    EXPECT_EQ(SleepUntil(In(milliseconds(5))), Wake::kDeadline);
  });
}

TEST(InterrupterTest, FiresFromAnotherThread) {
  std::optional<std::thread> other;
  RunFiber([&] {
    const Interrupter interrupter = Interrupter::Arm();
    other.emplace([interrupter] { interrupter.Fire(); });
    EXPECT_EQ(SleepUntil(kNever), Wake::kInterrupted);
  });
  other->join();
}

TEST(SocketTest, WaitsForBytesAndReadsThem) {
  RunFiber([] {
    Pair pair;
    char buffer[16];
    EXPECT_EQ(pair.ours->Read(buffer, sizeof buffer), -1);
    Loop::Current()->Spawn([&] { pair.Send("hello"); });
    EXPECT_EQ(pair.ours->WaitReadable(kNever), Wake::kReady);
    EXPECT_EQ(pair.ours->Read(buffer, sizeof buffer), 5);
  });
}

TEST(SocketTest, KnowsWithoutACallThatAShortReadEmptiedTheSocket) {
  RunFiber([] {
    Pair pair;
    pair.Send("hello");
    char buffer[16];
    ASSERT_EQ(pair.ours->Read(buffer, 5), 5);
    EXPECT_TRUE(pair.ours->readable());
    pair.Send("again");
    ASSERT_EQ(pair.ours->Read(buffer, sizeof buffer), 5);
    EXPECT_FALSE(pair.ours->readable());
  });
}

TEST(SocketTest, ReadsTheEndThatCameWithTheLastBytes) {
  RunFiber([] {
    Pair pair;
    pair.Send("bye");
    pair.CloseTheirs();
    SleepUntil(In(milliseconds(1)));
    char buffer[16];
    EXPECT_EQ(pair.ours->Read(buffer, sizeof buffer), 3);
    EXPECT_EQ(pair.ours->WaitReadable(kNever), Wake::kReady);
    EXPECT_EQ(pair.ours->Read(buffer, sizeof buffer), 0);
  });
}

TEST(SocketTest, TellsOfAHangUpBehindUnreadBytes) {
  RunFiber([] {
    Pair pair;
    pair.Send("never read");
    const Interrupter interrupter = Interrupter::Arm();
    pair.ours->OnHangUp([interrupter] { interrupter.Fire(); });
    ::shutdown(pair.theirs, SHUT_WR);
    EXPECT_EQ(SleepUntil(kNever), Wake::kInterrupted);
    EXPECT_TRUE(pair.ours->hung_up());
  });
}

TEST(SocketTest, WaitsWhileThePeerDoesNotRead) {
  RunFiber([] {
    Pair pair;
    std::string megabyte(1 << 20, 'x');
    iovec part{megabyte.data(), megabyte.size()};
    const ssize_t put = pair.ours->Write(absl::MakeSpan(&part, 1));
    ASSERT_GT(put, 0);
    ASSERT_LT(put, static_cast<ssize_t>(megabyte.size()));
    EXPECT_EQ(pair.ours->WaitWritable(In(milliseconds(5))), Wake::kDeadline);
    Loop::Current()->Spawn([&] {
      while (::read(pair.theirs, megabyte.data(), megabyte.size()) > 0) {
      }
    });
    EXPECT_EQ(pair.ours->WaitWritable(kNever), Wake::kReady);
  });
}

TEST(SocketTest, GivesOthersATurnWhileItIsAlwaysReady) {
  RunFiber([] {
    Pair pair;
    bool other_ran = false;
    Loop::Current()->Spawn([&] { other_ran = true; });
    for (int i = 0; i < 100 && !other_ran; ++i)
      EXPECT_EQ(pair.ours->WaitWritable(kNever), Wake::kReady);
    EXPECT_TRUE(other_ran);
  });
}

TEST(BlockingPoolTest, RunsTheCallElsewhereAndReturnsWhenItIsDone) {
  BlockingPool pool(2);
  RunFiber([&] {
    std::thread::id where;
    EXPECT_EQ(pool.Run([&] { where = std::this_thread::get_id(); }, kNever), Wake::kReady);
    EXPECT_NE(where, std::this_thread::get_id());
  });
}

TEST(BlockingPoolTest, LeavesACallThatTakesTooLongAndOutlivesTheLoop) {
  auto release = std::make_shared<std::promise<void>>();
  BlockingPool pool(1);
  RunFiber([&] {
    EXPECT_EQ(pool.Run([release] { release->get_future().wait(); }, In(milliseconds(5))),
              Wake::kDeadline);
  });
  // The call returns when its loop is gone: there is nobody to tell.
  release->set_value();
}

TEST(BlockingPoolTest, DropsACallThatNobodyWaitsForAnyMore) {
  auto release = std::make_shared<std::promise<void>>();
  auto ran = std::make_shared<std::atomic<bool>>(false);
  BlockingPool pool(1);
  RunFiber([&] {
    Latch begun;
    Loop::Current()->Spawn([&] {
      begun.Open();  // who waits for it runs once this fiber waits
      pool.Run([release] { release->get_future().wait(); }, kNever);
    });
    begun.Wait(kNever);
    EXPECT_EQ(pool.Run([ran] { *ran = true; }, In(milliseconds(5))), Wake::kDeadline);
    release->set_value();
    EXPECT_EQ(pool.Run([] {}, kNever), Wake::kReady) << "the queue went on behind it";
  });
  EXPECT_FALSE(*ran);
}

TEST(BufferPoolTest, LendsOneBufferAgainAndAgainAndAnotherWhileItIsHeld) {
  BufferPool pool;
  BufferPool::Lease first = pool.Take();
  char* const data = first.data();
  BufferPool::Lease second = pool.Take();
  EXPECT_NE(second.data(), data);
  first.Release();
  EXPECT_EQ(pool.Take().data(), data);
}

}  // namespace
}  // namespace sluice::runtime
