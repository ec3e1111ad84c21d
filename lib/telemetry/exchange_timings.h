#ifndef SLUICE_LIB_TELEMETRY_EXCHANGE_TIMINGS_H_
#define SLUICE_LIB_TELEMETRY_EXCHANGE_TIMINGS_H_

#include "lib/exchange/observer.h"
#include "lib/telemetry/histogram.h"

namespace sluice::telemetry {

/// How long things took, over all exchanges that finished. Thread-safe.
class ExchangeTimings final : public Observer {
 public:
  void OnFinished(const Exchange& x) override {
    if (x.cancel_latency.has_value()) cancel_latency_.Record(*x.cancel_latency);
    if (x.stamps.first_frame.has_value()) {
      first_frame_.Record(*x.stamps.first_frame - x.stamps.accepted);
    }
    duration_.Record(*x.stamps.done - x.stamps.accepted);
  }

  /// For how long upstreams went on after their exchange was cancelled.
  const Histogram& cancel_latency() const { return cancel_latency_; }
  /// From `accepted` to the first valid frame (TTFT).
  const Histogram& first_frame() const { return first_frame_; }
  const Histogram& duration() const { return duration_; }

 private:
  Histogram cancel_latency_;
  Histogram first_frame_;
  Histogram duration_;
};

}  // namespace sluice::telemetry

#endif  // SLUICE_LIB_TELEMETRY_EXCHANGE_TIMINGS_H_
