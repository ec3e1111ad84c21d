#include "lib/runtime/loop_threads.h"

#include <pthread.h>

#include "absl/strings/str_cat.h"

namespace sluice::runtime {

LoopThreads::LoopThreads(int count, LoopOptions options) {
  for (int i = 0; i < count; ++i) loops_.push_back(std::make_unique<Loop>(options));
  for (int i = 0; i < count; ++i) {
    threads_.emplace_back([loop = loops_[i].get()] { loop->Run(); });
    ::pthread_setname_np(threads_.back().native_handle(), absl::StrCat("loop-", i).c_str());
  }
}

void LoopThreads::Join() {
  for (const auto& loop : loops_) loop->Stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace sluice::runtime
