#ifndef SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_
#define SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/base/random.h"
#include "lib/config/config.h"
#include "lib/config/snapshot.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/state_changes.h"
#include "lib/upstream/lease.h"
#include "lib/upstream/picker.h"
#include "lib/upstream/pool_members.h"

namespace sluice::upstream {

/// Why there is nothing to make an attempt with.
enum class Shortage {
  kNoneConfigured,  // the pool has no endpoints
  kAllTried,        // none that is eligible
  kAllDraining,     // of the eligible ones
  kAllEjected,      // of those that do not drain
  kAllFull,         // one that is well has its max_in_flight: worth waiting for
  kNoKey,           // the pool has keys, and none is usable now
};

struct EndpointListeners {
  /// Hears each change of an endpoint's health, in order; must not wait or call back.
  std::function<void(EndpointStateChanged)> on_change = [](EndpointStateChanged) {};
  /// There may be room again in a pool that has limits. Must not wait.
  std::function<void(const std::string& pool)> on_free = [](const std::string&) {};
};

/// The runtime state of all endpoints: which get attempts, how many, and how those ended.
/// Thread-safe; one lock, which is never held while a listener of `on_free` runs.
class EndpointTable {
 public:
  /// `clock` and `random` outlive the table; `random` is used under its lock, and by nobody else.
  EndpointTable(const Clock& clock, Random& random, EndpointListeners listeners = {})
      : clock_(clock), random_(random), listeners_(std::move(listeners)) {}

  /// By the id of a lease: "a", "a@10.0.0.1".
  using Eligible = absl::FunctionRef<bool(absl::string_view id)>;

  /// Leases the endpoint of `pool` that its picker chooses among those that are eligible, well, not
  /// draining and not full. One that is due for its trial goes first. One that asked to be left
  /// alone is used if there is no other. `pool` is of `snapshot`.
  std::variant<Lease, Shortage> Acquire(const config::Snapshot& snapshot, const config::Pool& pool,
                                        Eligible eligible, const PickKey& key = {});
  /// What Acquire would find wanting; nothing when it would find an endpoint.
  std::optional<Shortage> Lacks(const config::Snapshot& snapshot, const config::Pool& pool,
                                Eligible eligible);

  /// The members of `pool`, for probes.
  std::shared_ptr<const PoolMembers> Members(const config::Snapshot& snapshot,
                                             const config::Pool& pool);
  /// A probe of one of them ended. `detail`: what was wrong.
  void SeeProbe(const Member& member, bool ok, absl::string_view detail);

  /// DNS found `host` at `ips`: each is an endpoint of its own, for endpoints that say `resolve`.
  /// Before that, and with none, they are used by their name.
  void SetAddresses(absl::string_view host, std::vector<std::string> ips);

  /// A draining endpoint is leased no more, at whatever address; the leases it has go on. Returns
  /// whether that changed anything.
  bool SetDraining(absl::string_view name, bool draining);
  /// Forgets endpoints that `config` does not have: one that is leased stays until a later call,
  /// but a drain of it is over.
  void ForgetAllBut(const config::Config& config);

  struct Reading {
    std::string name;
    int in_flight = 0;  // leases held
    int64_t attempts = 0;
    int64_t failed_attempts = 0;
    uint64_t drain_turn = 0;  // unlike for each drain; odd while it is draining
    Health::State health = Health::State::kWell;
    absl::Time ejected_until = absl::InfinitePast();  // InfiniteFuture: until probes succeed
    std::string ejection_reason = "";                 // of the last one
    int64_t ejections = 0;
    int consecutive_failures = 0;
    double warmth = 1;        // share of its weight that it gets, in its slow start
    Duration first_frame{0};  // peak EWMA; 0: unknown
    absl::Time rests_until = absl::InfinitePast();
    std::optional<Cause> last_failure{};
    absl::Time last_failure_at = absl::InfinitePast();
    bool draining() const { return drain_turn % 2 == 1; }
  };
  /// One endpoint; zeros for one that was never used. Counts are of all its addresses together.
  Reading Read(absl::string_view name) const;
  /// All that were ever used or drained, by name; each address by itself.
  std::vector<Reading> ReadAll() const;

 private:
  friend class Lease;

  struct Pool {
    uint64_t generation = 0;         // of the configuration that `members` are of
    uint64_t addresses_edition = 0;  // and of the addresses
    std::shared_ptr<const PoolMembers> members;
    std::unique_ptr<Picker> picker;
  };

  struct End {
    Outcome outcome;
    Cause cause;
    std::optional<Duration> rest;
  };
  void SeeFirstFrame(const Member& member, Health::Era era, Duration time);
  void SeeNoFrame(const Member& member, Duration time);
  void SeeEnd(const Member& member, Health::Era era, const End& end);

  std::shared_ptr<const PoolMembers> MembersOf(const config::Snapshot& snapshot,
                                               const config::Pool& pool)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<const PoolMembers> MakeMembers(const config::Pool& pool)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refresh(Pool& entry, const config::Snapshot& snapshot, const config::Pool& pool)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Ends ejections that the configuration does not allow any more.
  void Reconcile(const PoolMembers& members) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Leaves in `open_` the places of the members that Acquire chooses among.
  std::optional<Shortage> Look(const PoolMembers& members, Eligible eligible, Instant now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t Choose(Picker& picker, const PoolMembers& members, const PickKey& key, Instant now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Lease Grant(std::shared_ptr<const Member> member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayEject(const std::string& pool) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// The health of `state` has changed.
  void Tell(const EndpointState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<EndpointState> StateOf(absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Reading ReadingOf(const EndpointState& state) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Time WallOf(Instant at) const;

  const Clock& clock_;
  Random& random_;
  const EndpointListeners listeners_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<EndpointState>, std::less<>> states_
      ABSL_GUARDED_BY(mutex_);                                              // by name
  std::map<std::string, Pool, std::less<>> pools_ ABSL_GUARDED_BY(mutex_);  // by id
  AddressBook addresses_ ABSL_GUARDED_BY(mutex_);
  uint64_t addresses_edition_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of one Acquire; kept, as they are memory.
  std::vector<size_t> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> resting_ ABSL_GUARDED_BY(mutex_);
  std::vector<Candidate> candidates_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_
