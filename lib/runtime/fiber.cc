#include "lib/runtime/fiber.h"

#include <algorithm>
#include <cstddef>

#include "boost/context/preallocated.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SLUICE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLUICE_TSAN 1
#endif
#endif

#ifdef SLUICE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SLUICE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace sluice::runtime {
namespace {

/// From a wait for a piece up to the frames that have written the one before.
constexpr ptrdiff_t kPrefetchedBytes = 1024;
constexpr ptrdiff_t kCacheLineBytes = 64;

/// The stack is the Fiber's: Boost may use it, not free it.
struct BorrowedStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace

Fiber::Fiber(size_t stack_bytes) : stack_(stack_bytes) {
  if (!has_stack()) return;
  boost::context::stack_context memory;
  memory.sp = stack_.top();
  memory.size = stack_.size();
  fiber_context_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(memory.sp, memory.size, memory),
      BorrowedStack(), [this](boost::context::fiber&& loop) {
        loop_context_ = std::move(loop);
#ifdef SLUICE_ASAN
        __sanitizer_finish_switch_fiber(nullptr, &loop_stack_bottom_, &loop_stack_bytes_);
#endif
        while (!quitting_) {
          body_();
          body_ = nullptr;
          state = State::kIdle;
          Suspend();
        }
#ifdef SLUICE_ASAN
        __sanitizer_start_switch_fiber(nullptr, loop_stack_bottom_, loop_stack_bytes_);
#endif
#ifdef SLUICE_TSAN
        __tsan_switch_to_fiber(tsan_loop_, 0);
#endif
        return std::move(loop_context_);
      });
#ifdef SLUICE_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  if (!has_stack()) return;
  quitting_ = true;
  body_ = [] {};
  Resume();
#ifdef SLUICE_TSAN
  __tsan_destroy_fiber(tsan_fiber_);
#endif
}

bool Fiber::Resume() {
  LeaveLoop();
#ifdef SLUICE_TSAN
  // Not in a function of its own, which would be entered on one stack and left on the other:
  // ThreadSanitizer counts.
  tsan_loop_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
  fiber_context_ = std::move(fiber_context_).resume();
  EnterLoop();
  return state != State::kIdle;
}

void Fiber::Suspend() {
  suspended_at_ = static_cast<const char*>(__builtin_frame_address(0));
#ifdef SLUICE_ASAN
  __sanitizer_start_switch_fiber(&fiber_fake_stack_, loop_stack_bottom_, loop_stack_bytes_);
#endif
#ifdef SLUICE_TSAN
  __tsan_switch_to_fiber(tsan_loop_, 0);
#endif
  loop_context_ = std::move(loop_context_).resume();
#ifdef SLUICE_ASAN
  __sanitizer_finish_switch_fiber(fiber_fake_stack_, &loop_stack_bottom_, &loop_stack_bytes_);
#endif
}

void Fiber::PrefetchStack() const {
  const char* const end = std::min<const char*>(suspended_at_ + kPrefetchedBytes, stack_.top());
  for (const char* line = suspended_at_ - kCacheLineBytes; line < end; line += kCacheLineBytes) {
    __builtin_prefetch(line);
  }
}

void Fiber::LeaveLoop() {
#ifdef SLUICE_ASAN
  __sanitizer_start_switch_fiber(&loop_fake_stack_, stack_.bottom(), stack_.size());
#endif
}

void Fiber::EnterLoop() {
#ifdef SLUICE_ASAN
  __sanitizer_finish_switch_fiber(loop_fake_stack_, nullptr, nullptr);
#endif
}

}  // namespace sluice::runtime
