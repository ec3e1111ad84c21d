#ifndef SLUICE_LIB_HTTP_BRANCHES_H_
#define SLUICE_LIB_HTTP_BRANCHES_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "lib/exchange/seams.h"

namespace sluice::http {

/// Runs each branch in a fiber of its own, on the loop of the fiber that begins it. Must outlive
/// the branches.
class FiberBranches final : public Branches {
 public:
  std::unique_ptr<Branch> Begin(std::function<void()> work) override;
  /// Those that have not ended. Thread-safe.
  size_t running() const { return running_.load(std::memory_order_relaxed); }

 private:
  std::atomic<size_t> running_{0};
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_BRANCHES_H_
