#include "lib/upstream/hedge_budget.h"

#include <algorithm>

namespace sluice::upstream {
namespace {

constexpr double kMostTokens = 10;

}  // namespace

void HedgeBudgets::OnExchange(const config::Pool& pool) {
  MutexLock lock(&mutex_);
  const auto found = spent_.find(pool.id);
  if (found == spent_.end()) return;
  found->second -= pool.hedge.ratio;
  if (found->second <= 0) spent_.erase(found);
}

bool HedgeBudgets::TryTake(const config::Pool& pool) {
  if (pool.hedge.ratio <= 0) return false;
  MutexLock lock(&mutex_);
  double& spent = spent_[pool.id];
  if (spent + 1 > kMostTokens) return false;
  spent += 1;
  return true;
}

void HedgeBudgets::ForgetAllBut(const config::Config& config) {
  MutexLock lock(&mutex_);
  std::erase_if(spent_, [&config](const auto& entry) {
    return std::none_of(config.pools.begin(), config.pools.end(),
                        [&entry](const config::Pool& pool) { return pool.id == entry.first; });
  });
}

}  // namespace sluice::upstream
