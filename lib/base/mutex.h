#ifndef SLUICE_LIB_BASE_MUTEX_H_
#define SLUICE_LIB_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace sluice {

/// `std::mutex` that clang's -Wthread-safety understands. `absl::Mutex` is not used: the packaged
/// Abseil carries no ThreadSanitizer annotations, so correct programs are reported as racy. Never
/// held across a fiber's suspension.
class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* mutex_;
};

class CondVar {
 public:
  /// Waits until `ready()` holds. The mutex is held when `ready` runs and on return.
  template <typename Predicate>
  void Wait(Mutex* mutex, Predicate ready) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock, ready);
    lock.release();
  }

  /// As Wait, but gives up after `timeout`; returns whether `ready()` holds.
  template <typename Predicate, typename Timeout>
  bool WaitFor(Mutex* mutex, Timeout timeout, Predicate ready) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const bool held = condition_.wait_for(lock, timeout, ready);
    lock.release();
    return held;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_MUTEX_H_
