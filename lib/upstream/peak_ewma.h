#ifndef SLUICE_LIB_UPSTREAM_PEAK_EWMA_H_
#define SLUICE_LIB_UPSTREAM_PEAK_EWMA_H_

#include "lib/base/clock.h"

namespace sluice::upstream {

/// A latency that believes bad news at once and good news slowly: what is longer than the value
/// becomes the value, what is shorter moves it as an average with exponentially decaying weights
/// does, and while nothing is observed it sinks, so that an endpoint left alone is tried again. As
/// in Finagle's `peakEwma` balancer. Thread-compatible.
class PeakEwma {
 public:
  /// `decay`: in that time without news the value sinks to 1/e; as long as Finagle's by default.
  explicit PeakEwma(Duration decay = std::chrono::seconds(10)) : decay_(decay) {}

  /// `now` never goes back.
  void Observe(Duration latency, Instant now);
  /// Of a latency that was not waited for: it is `latency` or more.
  void ObserveAtLeast(Duration latency, Instant now);
  /// 0 before the first observation, and again once it has sunk to nothing.
  Duration Value(Instant now) const;

 private:
  /// What is left at `now` of a weight of 1 at the last observation.
  double Left(Instant now) const;

  Duration decay_;
  Duration value_{0};  // at `at_`
  Instant at_{};
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PEAK_EWMA_H_
