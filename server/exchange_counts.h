#ifndef SLUICE_SERVER_EXCHANGE_COUNTS_H_
#define SLUICE_SERVER_EXCHANGE_COUNTS_H_

#include <atomic>
#include <cstdint>

#include "lib/exchange/observer.h"

namespace sluice::server {

/// How many exchanges started since the process did. Thread-safe.
class ExchangeCounts final : public Observer {
 public:
  void OnStarted(const Exchange&) override { started_.fetch_add(1, std::memory_order_relaxed); }
  int64_t started() const { return started_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> started_{0};
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_EXCHANGE_COUNTS_H_
