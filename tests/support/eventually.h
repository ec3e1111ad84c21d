#ifndef SLUICE_TESTS_SUPPORT_EVENTUALLY_H_
#define SLUICE_TESTS_SUPPORT_EVENTUALLY_H_

#include <chrono>
#include <functional>
#include <thread>

#include "tests/support/patience.h"

namespace sluice::testing {

/// Polls for what other threads bring about; returns whether `holds` did before patience ran out.
inline bool Eventually(const std::function<bool()>& holds) {
  const Instant deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_EVENTUALLY_H_
