#ifndef SLUICE_LIB_ADMISSION_GATE_H_
#define SLUICE_LIB_ADMISSION_GATE_H_

#include "absl/strings/string_view.h"

#include "lib/admission/rate_limiter.h"
#include "lib/admission/slots.h"
#include "lib/admission/wait_queue.h"
#include "lib/base/clock.h"

namespace sluice::admission {

/// What a gateway counts to keep its limits. Each part is thread-safe.
struct Gate {
  /// `clock` must outlive it.
  explicit Gate(const Clock& clock) : rates(clock), queues(clock) {}

  Slots principals;  // by principal
  RateLimiter rates;
  WaitQueues queues;  // by pool
  Slots pools{[this](absl::string_view pool) { queues.Signal(pool); }};
};

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_GATE_H_
