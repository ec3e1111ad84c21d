#ifndef SLUICE_TESTS_INTEGRATION_FINISHED_EXCHANGES_H_
#define SLUICE_TESTS_INTEGRATION_FINISHED_EXCHANGES_H_

#include <map>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/exchange/observer.h"
#include "tests/support/eventually.h"

namespace sluice::testing {

/// The record of an exchange that has ended.
struct FinishedExchange {
  Exchange record;
  int done = 0;  // calls of OnDone
};

/// Keeps the records of a running gateway. Thread-safe.
class FinishedExchanges final : public Observer {
 public:
  void OnDone(const Exchange& exchange) override {
    MutexLock lock(&mutex_);
    ++done_[&exchange];
  }
  void OnFinished(const Exchange& exchange) override {
    MutexLock lock(&mutex_);
    finished_.push_back({exchange, done_[&exchange]});
    done_.erase(&exchange);
  }

  size_t count() const {
    MutexLock lock(&mutex_);
    return finished_.size();
  }
  /// All in the order of their ends, once there are `at_least`, or what there is when patience ran
  /// out.
  std::vector<FinishedExchange> WaitFor(size_t at_least) const {
    Eventually([&] { return count() >= at_least; });
    MutexLock lock(&mutex_);
    return finished_;
  }

 private:
  mutable Mutex mutex_;
  std::map<const Exchange*, int> done_ ABSL_GUARDED_BY(mutex_);
  std::vector<FinishedExchange> finished_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_FINISHED_EXCHANGES_H_
