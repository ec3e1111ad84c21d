#ifndef SLUICE_LIB_RUNTIME_LOOP_H_
#define SLUICE_LIB_RUNTIME_LOOP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/runtime/buffer_pool.h"
#include "lib/runtime/wake.h"

namespace sluice::runtime {

class Fiber;
class Socket;

struct LoopOptions {
  /// Virtual size of a fiber's stack; only touched pages cost memory. The whole test suite, built
  /// for release, touches 24 KiB of any at most; sanitizers and debug builds need more.
  size_t stack_bytes = size_t{128} << 10;
};

/// One thread's event loop and the fibers on it: sequential code that is suspended where it would
/// block. A fiber stays on its loop for life. Built on epoll itself: readiness is edge-triggered
/// and registered once per socket, so that a wait in steady state costs a share of one epoll_wait
/// and no other call; the kept event libraries re-arm or read to EAGAIN each time, and hide
/// EPOLLRDHUP.
class Loop {
 public:
  explicit Loop(LoopOptions options = {});
  /// Run must have returned.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Serves the loop on the calling thread until Stop was called and every fiber has ended.
  void Run();

  // Thread-safe:

  void Stop();
  /// Runs `task` on the loop's thread, outside any fiber; it must not wait.
  void Post(std::function<void()> task);
  /// Fibers that have not ended.
  size_t fibers() const { return live_fibers_.load(std::memory_order_relaxed); }
  /// Sockets on it. Thread-safe.
  size_t sockets() const { return sockets_.load(std::memory_order_relaxed); }
  /// How often it has rested (LetMoreCome).
  uint64_t rests() const { return rests_.load(std::memory_order_relaxed); }

  // On the loop's thread only:

  /// Starts a fiber, on the stack of one that ended if there is one: stacks are kept for as long as
  /// the loop lives, as many as ran at once. It first runs after the caller waits or returns. False
  /// when there is no memory for a stack: `body` was not and will not be called. `body` must not
  /// throw.
  bool Spawn(std::function<void()> body);

  /// The loop that this thread runs, or null.
  static Loop* Current();

  BufferPool& buffers() { return buffers_; }

 private:
  friend class Fiber;
  friend class Socket;
  friend class Interrupter;
  friend class Latch;
  friend Wake SleepUntil(Instant, Interrupts);
  friend void Yield();
  friend void LetMoreCome();
  friend void ReleaseUnusedStack();
  friend void RunOnLoopStack(absl::FunctionRef<void()>);

  /// False: the system has no memory for it.
  bool Watch(int fd, Socket* socket);
  /// Suspends the running fiber until Schedule or the deadline; a new interrupt ends it if
  /// `interruptible`.
  Wake Suspend(Instant deadline, bool interruptible);
  /// Ends the wait of `fiber`, if it is in one.
  void Schedule(Fiber* fiber, Wake wake);
  /// Yields if this fiber went on for long without waiting.
  void SpendTurn();

  int PollTimeoutMs() const;
  void Poll();
  void RunPosted();
  void FireTimers();
  void RunReady();
  void RunBorrower();
  void Arm(Fiber* fiber);

  const LoopOptions options_;
  int epoll_fd_;
  int wake_fd_;
  BufferPool buffers_;
  Fiber* running_ = nullptr;
  std::optional<absl::FunctionRef<void()>> borrower_;  // what the running fiber wants run here
  std::exception_ptr borrower_threw_;
  std::vector<Fiber*> ready_;
  std::vector<Fiber*> batch_;  // of ready_, whose turn it is
  std::vector<Fiber*> yielded_;
  int rounds_yielded_ = 0;
  bool rest_due_ = false;
  std::vector<Fiber*> idle_;
  std::vector<std::unique_ptr<Fiber>> all_fibers_;
  std::atomic<size_t> live_fibers_{0};
  std::atomic<size_t> sockets_{0};
  std::atomic<uint64_t> rests_{0};
  std::vector<std::pair<Instant, Fiber*>> timers_;  // min-heap; holds stale entries, see Arm()

  Mutex posted_mutex_;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(posted_mutex_);
  bool stopping_ ABSL_GUARDED_BY(posted_mutex_) = false;
};

/// Suspends the running fiber. kReady never comes.
Wake SleepUntil(Instant deadline, Interrupts interrupts = Interrupts::kHeed);

/// Lets fibers have their turns before the running one goes on, until none is ready and no socket
/// has news, or for a few rounds of the loop.
void Yield();

/// The running fiber is one of those whose bytes come in small pieces, fast: when most fibers of a
/// turn are, the loop rests for half a millisecond before it looks for news, so that it finds more
/// of them at once. A system call costs more than the bytes of a piece.
void LetMoreCome();

/// Runs `work`, which must not wait, on the stack of the loop's thread: what it needs of a stack
/// stays warm there for all fibers, and touches no page of the running fiber's own. What it throws
/// comes out here.
void RunOnLoopStack(absl::FunctionRef<void()> work);

/// Gives back the stack pages below the running fiber's present depth. Worth it before a long wait.
void ReleaseUnusedStack();

/// The handle by which others end the waits of one fiber, for one span of its life.
class Interrupter {
 public:
  /// For the running fiber. Forgets what an earlier Interrupter of it fired.
  static Interrupter Arm();

  /// Ends the fiber's present wait and those to come until the next Arm(). Thread-safe; does
  /// nothing once the fiber was armed anew. The loop must still exist.
  void Fire() const;

 private:
  Interrupter(Loop* loop, Fiber* fiber, uint64_t span) : loop_(loop), fiber_(fiber), span_(span) {}
  void FireOnLoop() const;

  Loop* loop_;
  Fiber* fiber_;
  uint64_t span_;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_LOOP_H_
