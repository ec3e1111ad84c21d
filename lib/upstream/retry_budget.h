#ifndef SLUICE_LIB_UPSTREAM_RETRY_BUDGET_H_
#define SLUICE_LIB_UPSTREAM_RETRY_BUDGET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"
#include "lib/config/config.h"

namespace sluice::upstream {

/// Keeps a pool that is down from being hammered: the token bucket of gRPC's retry throttling
/// (proposal A6), one per pool, full at first. A change of `budget_tokens` that makes the bucket
/// smaller spills what is over; one that makes it larger fills it. Thread-safe.
class RetryBudgets {
 public:
  /// An attempt failed for a reason that allows a retry, whether or not there is one.
  void OnFailure(const config::Pool& pool);
  /// An attempt came to something.
  void OnSuccess(const config::Pool& pool);
  /// Whether the pool's failed attempts may be followed by others.
  bool MayRetry(const config::Pool& pool) const;

  /// The tokens there are now, for display.
  double Read(const config::Pool& pool) const;
  void ForgetAllBut(const config::Config& config);

 private:
  /// In thousandths of a token: a tenth is then exact.
  struct Bucket {
    int64_t capacity = 0;
    int64_t tokens = 0;
  };
  Bucket BucketOf(const config::Pool& pool) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(const config::Pool& pool, int64_t tokens);

  mutable Mutex mutex_;
  std::map<std::string, Bucket, std::less<>> buckets_ ABSL_GUARDED_BY(mutex_);  // none: full
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_RETRY_BUDGET_H_
