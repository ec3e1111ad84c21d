#include "lib/runtime/blocking.h"

#include <memory>
#include <pthread.h>
#include <utility>

#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"

namespace sluice::runtime {

BlockingPool::BlockingPool(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Serve(); });
    ::pthread_setname_np(threads_.back().native_handle(), "blocking");
  }
}

BlockingPool::~BlockingPool() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

/// Between the fiber that waits and the thread that calls.
struct BlockingPool::Call {
  std::function<void()> run;
  Latch returned;  // touched on the loop alone
  Mutex mutex;
  Loop* waiter ABSL_GUARDED_BY(mutex) = nullptr;  // null once nobody waits: its loop may be gone
};

Wake BlockingPool::Run(std::function<void()> call, Instant deadline) {
  auto shared = std::make_shared<Call>();
  shared->run = std::move(call);
  {
    MutexLock lock(&shared->mutex);
    shared->waiter = Loop::Current();
  }
  {
    MutexLock lock(&mutex_);
    queue_.push_back(shared);
  }
  wake_.NotifyOne();
  const Wake wake = shared->returned.Wait(deadline);
  MutexLock lock(&shared->mutex);
  shared->waiter = nullptr;
  return wake;
}

void BlockingPool::Serve() {
  while (true) {
    std::shared_ptr<Call> call;
    {
      MutexLock lock(&mutex_);
      wake_.Wait(&mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stopping_ || !queue_.empty();
      });
      if (stopping_) return;
      call = std::move(queue_.front());
      queue_.pop_front();
    }
    {
      MutexLock lock(&call->mutex);
      if (call->waiter == nullptr) continue;
    }
    call->run();
    MutexLock lock(&call->mutex);
    if (call->waiter != nullptr) call->waiter->Post([call] { call->returned.Open(); });
  }
}

}  // namespace sluice::runtime
