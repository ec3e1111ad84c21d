#ifndef SLUICE_LIB_RUNTIME_FIBER_H_
#define SLUICE_LIB_RUNTIME_FIBER_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "boost/context/fiber.hpp"

#include "lib/base/clock.h"
#include "lib/runtime/stack.h"
#include "lib/runtime/wake.h"

namespace sluice::runtime {

class Loop;

/// A stack and a place in it. Private to lib/runtime, where Loop owns them all; confined to the
/// loop's thread. One fiber runs many bodies in turn: ending one leaves it suspended, ready for the
/// next.
class Fiber {
 public:
  explicit Fiber(size_t stack_bytes);
  /// Must be idle.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  bool has_stack() const { return stack_.bottom() != nullptr; }
  void SetBody(std::function<void()> body) { body_ = std::move(body); }

  /// Called by the loop: runs the fiber until it suspends; false when its body has ended.
  bool Resume();
  /// Called in the fiber: returns when it is resumed.
  void Suspend();

  Stack& stack() { return stack_; }
  /// Begins to load what Suspend left on top of the stack into the cache: of thousands of fibers
  /// few are in it, and one after the other the misses would cost more than the switch.
  void PrefetchStack() const;

  // What the fiber waits for; Loop reads and writes these.
  enum class State { kIdle, kRunning, kWaiting, kReady };
  State state = State::kIdle;
  Wake wake = Wake::kReady;
  bool interruptible = false;
  Instant deadline = kNever;  // of the present wait
  Instant armed = kNever;     // when the loop's timer will look at this fiber next
  int turns = 0;              // waits that found all ready, since the last suspension
  bool hurried = false;       // it said so in this turn: LetMoreCome

  bool interrupted = false;
  uint64_t interrupt_span = 0;  // counts Interrupter::Arm()

 private:
  /// The two halves of a switch, for the sanitizers that keep books of stacks.
  void LeaveLoop();
  void EnterLoop();

  Stack stack_;
  const char* suspended_at_ = nullptr;  // the stack's depth then
  std::function<void()> body_;
  bool quitting_ = false;
  boost::context::fiber fiber_context_;  // valid while suspended
  boost::context::fiber loop_context_;   // valid while running

  // For AddressSanitizer and ThreadSanitizer only.
  void* fiber_fake_stack_ = nullptr;
  void* loop_fake_stack_ = nullptr;
  const void* loop_stack_bottom_ = nullptr;
  size_t loop_stack_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_loop_ = nullptr;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_FIBER_H_
