#ifndef SLUICE_LIB_EVENTS_HUB_OBSERVER_H_
#define SLUICE_LIB_EVENTS_HUB_OBSERVER_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
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
  using SubjectPtr = std::shared_ptr<const Subject>;

  /// The subjects of running exchanges. Split, so that the event loops seldom meet on one mutex.
  struct Shard {
    Mutex mutex;
    absl::flat_hash_map<uint64_t, SubjectPtr> subjects ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(ExchangeId id) { return shards_[id.value % shards_.size()]; }
  void SetSubject(ExchangeId id, SubjectPtr subject);
  SubjectPtr SubjectOf(ExchangeId id);
  SubjectPtr TakeSubject(ExchangeId id);
  void Publish(const Exchange& x, SubjectPtr subject, Instant at, What what);

  Hub& hub_;
  const Clock& clock_;
  std::array<Shard, 16> shards_;
};

}  // namespace sluice::events

#endif  // SLUICE_LIB_EVENTS_HUB_OBSERVER_H_
