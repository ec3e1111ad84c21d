#ifndef SLUICE_LIB_RUNTIME_BLOCKING_H_
#define SLUICE_LIB_RUNTIME_BLOCKING_H_

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/runtime/wake.h"

namespace sluice::runtime {

/// Threads for calls that have no non-blocking form (name look-up). Thread-safe.
class BlockingPool {
 public:
  explicit BlockingPool(int threads);
  /// Waits for the calls that have begun; those still queued are dropped.
  ~BlockingPool();

  /// Runs `call` on one of the threads and suspends the running fiber until it has returned. On
  /// kDeadline and kInterrupted the call may still run, or begin, later: it must own whatever it
  /// touches.
  Wake Run(std::function<void()> call, Instant deadline);

 private:
  struct Call;

  void Serve();

  Mutex mutex_;
  CondVar wake_;
  std::deque<std::shared_ptr<Call>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_BLOCKING_H_
