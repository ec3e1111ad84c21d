#include "lib/upstream/peak_ewma.h"

#include <cmath>

namespace sluice::upstream {
namespace {

Duration Scaled(Duration value, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(value.count()) * factor));
}

}  // namespace

void PeakEwma::Observe(Duration latency, Instant now) {
  const double left = Left(now);
  value_ = latency > value_ ? latency : Scaled(value_, left) + Scaled(latency, 1 - left);
  at_ = now;
}

void PeakEwma::ObserveAtLeast(Duration latency, Instant now) {
  if (latency > Value(now)) Observe(latency, now);
}

Duration PeakEwma::Value(Instant now) const { return Scaled(value_, Left(now)); }

double PeakEwma::Left(Instant now) const {
  return std::exp(-std::chrono::duration<double>(now - at_) /
                  std::chrono::duration<double>(decay_));
}

}  // namespace sluice::upstream
