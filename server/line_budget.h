#ifndef SLUICE_SERVER_LINE_BUDGET_H_
#define SLUICE_SERVER_LINE_BUDGET_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace sluice::server {

/// Keeps a peer from flooding a log: lets so many lines a second through. Thread-safe.
class LineBudget {
 public:
  explicit LineBudget(int per_second) : per_second_(per_second) {}

  /// Whether one more line may be written at `now`; then, how many were not since the last that
  /// was.
  std::optional<int64_t> Take(Instant now) {
    MutexLock lock(&mutex_);
    if (now >= second_ends_) {
      second_ends_ = now + std::chrono::seconds(1);
      left_ = per_second_;
    }
    if (left_ == 0) {
      ++left_out_;
      return std::nullopt;
    }
    --left_;
    return std::exchange(left_out_, 0);
  }

 private:
  const int per_second_;
  Mutex mutex_;
  Instant second_ends_ ABSL_GUARDED_BY(mutex_) = Instant::min();
  int left_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_LINE_BUDGET_H_
