#ifndef SLUICE_LIB_UPSTREAM_PROBER_H_
#define SLUICE_LIB_UPSTREAM_PROBER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/base/random.h"
#include "lib/config/snapshot.h"
#include "lib/exchange/seams.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"

namespace sluice::upstream {

/// One question to one endpoint whether it is well.
struct ProbeJob {
  std::shared_ptr<const Member> member;
  OutboundRequest request;
  Duration timeout;
};

struct ProbeResult {
  bool ok = false;
  std::string detail;  // what was wrong
};

/// Asks, and waits for the answer: it is well if that is a 2xx, or about the key (401,
/// 402, 403, 429), and comes whole in time. Of a large
/// answer the beginning is enough. To be called where `transport` may be used.
ProbeResult RunProbe(Transport& transport, const Clock& clock, const ProbeJob& job);

/// When which endpoint is probed: each once per interval, give or take a fifth, so that neither one
/// gateway's probes nor those of many come together; a new one within a second. A pool's first
/// usable key is sent. Thread-safe.
///   for (ProbeJob& job : prober.TakeDue(*store.Current())) {
///     spawn([&prober, job] { prober.See(job, RunProbe(transport, clock, job)); });
///   }
///   sleep until prober.NextAt(), or until the configuration changes
class Prober {
 public:
  /// All of them outlive the prober; `random` is used under its lock, and by nobody else.
  Prober(EndpointTable& endpoints, KeyRing& keys, const Clock& clock, Random& random)
      : endpoints_(endpoints), keys_(keys), clock_(clock), random_(random) {}

  /// The probes to run now. What ran out of `snapshot` is forgotten; what is new gets its time.
  std::vector<ProbeJob> TakeDue(const config::Snapshot& snapshot);
  /// When TakeDue has the next one, as far as is known; kNever: not before a change of the
  /// configuration, of an address, or See.
  Instant NextAt() const;
  /// What became of a job: exactly once for each.
  void See(const ProbeJob& job, const ProbeResult& result);

 private:
  struct Turn {
    Instant at;
    bool running = false;
    uint64_t round = 0;  // of TakeDue, in which it was last found
  };
  ProbeJob JobFor(const config::Snapshot& snapshot, const config::Pool& pool,
                  std::shared_ptr<const Member> member);

  EndpointTable& endpoints_;
  KeyRing& keys_;
  const Clock& clock_;
  Random& random_;
  mutable Mutex mutex_;
  std::map<std::string, Turn, std::less<>> turns_ ABSL_GUARDED_BY(mutex_);  // by endpoint's name
  uint64_t round_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PROBER_H_
