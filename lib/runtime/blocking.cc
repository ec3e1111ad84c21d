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

Wake BlockingPool::Run(std::function<void()> call, Instant deadline) {
  auto returned = std::make_shared<Latch>();
  Loop* loop = Loop::Current();
  {
    MutexLock lock(&mutex_);
    queue_.push_back([call = std::move(call), returned, loop] {
      call();
      loop->Post([returned] { returned->Open(); });
    });
  }
  wake_.NotifyOne();
  return returned->Wait(deadline);
}

void BlockingPool::Serve() {
  while (true) {
    std::function<void()> call;
    {
      MutexLock lock(&mutex_);
      wake_.Wait(&mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stopping_ || !queue_.empty();
      });
      if (stopping_) return;
      call = std::move(queue_.front());
      queue_.pop_front();
    }
    call();
  }
}

}  // namespace sluice::runtime
