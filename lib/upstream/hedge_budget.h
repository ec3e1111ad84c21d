#ifndef SLUICE_LIB_UPSTREAM_HEDGE_BUDGET_H_
#define SLUICE_LIB_UPSTREAM_HEDGE_BUDGET_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"
#include "lib/config/config.h"

namespace sluice::upstream {

/// Keeps second attempts a small share of a pool's load, also when all of its endpoints are slow: a
/// bucket of ten tokens a pool, full at first, that each exchange puts `hedge.ratio` into and each
/// second attempt takes one from. Thread-safe.
class HedgeBudgets {
 public:
  void OnExchange(const config::Pool& pool);
  /// Whether there may be a second attempt; takes its token.
  bool TryTake(const config::Pool& pool);
  void ForgetAllBut(const config::Config& config);

 private:
  Mutex mutex_;
  std::map<std::string, double, std::less<>> spent_ ABSL_GUARDED_BY(mutex_);  // none: nothing is
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_HEDGE_BUDGET_H_
