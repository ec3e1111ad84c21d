#include "lib/upstream/retry_budget.h"

#include <algorithm>
#include <cmath>

namespace sluice::upstream {
namespace {

constexpr int64_t kToken = 1000;

}  // namespace

void RetryBudgets::OnFailure(const config::Pool& pool) { Add(pool, -kToken); }

void RetryBudgets::OnSuccess(const config::Pool& pool) {
  Add(pool, std::llround(pool.retry.budget_ratio * kToken));
}

bool RetryBudgets::MayRetry(const config::Pool& pool) const {
  MutexLock lock(&mutex_);
  const Bucket bucket = BucketOf(pool);
  return 2 * bucket.tokens > bucket.capacity;
}

double RetryBudgets::Read(const config::Pool& pool) const {
  MutexLock lock(&mutex_);
  return static_cast<double>(BucketOf(pool).tokens) / kToken;
}

void RetryBudgets::ForgetAllBut(const config::Config& config) {
  MutexLock lock(&mutex_);
  std::erase_if(buckets_, [&config](const auto& entry) {
    return std::none_of(config.pools.begin(), config.pools.end(),
                        [&entry](const config::Pool& pool) { return pool.id == entry.first; });
  });
}

RetryBudgets::Bucket RetryBudgets::BucketOf(const config::Pool& pool) const {
  const int64_t capacity = pool.retry.budget_tokens * kToken;
  const auto found = buckets_.find(pool.id);
  if (found == buckets_.end() || found->second.capacity < capacity) return {capacity, capacity};
  return {capacity, std::min(found->second.tokens, capacity)};
}

void RetryBudgets::Add(const config::Pool& pool, int64_t tokens) {
  MutexLock lock(&mutex_);
  const Bucket bucket = BucketOf(pool);
  const int64_t then = std::clamp<int64_t>(bucket.tokens + tokens, 0, bucket.capacity);
  buckets_[pool.id] = {bucket.capacity, then};
}

}  // namespace sluice::upstream
