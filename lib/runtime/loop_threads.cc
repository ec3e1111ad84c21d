#include "lib/runtime/loop_threads.h"

#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace sluice::runtime {
namespace {

/// Asks the scheduler for short turns of this thread, which it then lets go before threads with
/// longer ones as soon as it wakes (Linux 6.12, sched_setattr(2); an older one does not heed it):
/// what writes to watchers shares the core, and would else keep it for 3 ms. Nothing depends on it.
void TakeShortTurns() {
  constexpr pid_t kThisThread = 0;
  if (::sched_getscheduler(kThisThread) != SCHED_OTHER) return;  // somebody chose another
  struct {  // struct sched_attr, which Debian 12's C library does not have
    uint32_t size;
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime_ns = 200'000;
    uint64_t deadline_ns = 0;
    uint64_t period_ns = 0;
  } attributes = {.size = sizeof attributes, .nice = ::getpriority(PRIO_PROCESS, kThisThread)};
  ::syscall(SYS_sched_setattr, kThisThread, &attributes, 0);
}

}  // namespace

LoopThreads::LoopThreads(int count, LoopOptions options) {
  for (int i = 0; i < count; ++i) loops_.push_back(std::make_unique<Loop>(options));
  for (int i = 0; i < count; ++i) {
    threads_.emplace_back([loop = loops_[i].get()] {
      TakeShortTurns();
      loop->Run();
    });
    ::pthread_setname_np(threads_.back().native_handle(), absl::StrCat("loop-", i).c_str());
  }
}

void LoopThreads::Join() {
  for (const auto& loop : loops_) loop->Stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace sluice::runtime
