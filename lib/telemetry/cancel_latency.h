#ifndef SLUICE_LIB_TELEMETRY_CANCEL_LATENCY_H_
#define SLUICE_LIB_TELEMETRY_CANCEL_LATENCY_H_

#include "lib/exchange/observer.h"
#include "lib/telemetry/histogram.h"

namespace sluice::telemetry {

/// How long upstreams went on after their exchange was cancelled, over all exchanges. Thread-safe.
class CancelLatency final : public Observer {
 public:
  void OnFinished(const Exchange& x) override {
    if (x.cancel_latency.has_value()) histogram_.Record(*x.cancel_latency);
  }
  const Histogram& histogram() const { return histogram_; }

 private:
  Histogram histogram_;
};

}  // namespace sluice::telemetry

#endif  // SLUICE_LIB_TELEMETRY_CANCEL_LATENCY_H_
