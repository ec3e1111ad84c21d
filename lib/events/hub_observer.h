#ifndef SLUICE_LIB_EVENTS_HUB_OBSERVER_H_
#define SLUICE_LIB_EVENTS_HUB_OBSERVER_H_

#include "lib/base/clock.h"
#include "lib/events/hub.h"
#include "lib/exchange/observer.h"

namespace sluice::events {

/// Publishes to a hub what it observes. Thread-safe; never waits. `hub` and `clock` must outlive
/// it.
class HubObserver final : public Observer {
 public:
  HubObserver(Hub& hub, const Clock& clock) : hub_(hub), clock_(clock) {}

  void OnStarted(const Exchange& x) override;
  void OnAttempt(const Exchange& x, const Attempt& a) override;
  void OnAttemptFailed(const Exchange& x, const Attempt& a) override;
  void OnFirstByte(const Exchange& x) override;
  /// Publishes the first frame before its chunk.
  void OnFrame(const Exchange& x, const FrameInfo& f) override;
  void OnUsage(const Exchange& x, const Usage& u) override;
  void OnFinished(const Exchange& x) override;

 private:
  void Publish(const Exchange& x, Instant at, What what);

  Hub& hub_;
  const Clock& clock_;
};

}  // namespace sluice::events

#endif  // SLUICE_LIB_EVENTS_HUB_OBSERVER_H_
