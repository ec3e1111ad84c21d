#ifndef SLUICE_LIB_UPSTREAM_KEY_RING_H_
#define SLUICE_LIB_UPSTREAM_KEY_RING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/base/random.h"
#include "lib/config/config.h"
#include "lib/config/snapshot.h"
#include "lib/exchange/message.h"
#include "lib/exchange/state_changes.h"

namespace sluice::upstream {

class KeyRing;

/// One key of a pool as one attempt uses it. Its ring and its snapshot outlive it.
class KeyUse {
 public:
  KeyUse(KeyRing& ring, const config::Snapshot& snapshot, const config::Pool& pool,
         const config::Key& key)
      : ring_(&ring), snapshot_(&snapshot), pool_(&pool), key_(&key) {}

  const std::string& id() const { return key_->id; }
  /// Whether `text` holds the key's value.
  bool IsIn(absl::string_view text) const;
  /// Makes the key the only value of its field.
  void AddTo(HeaderList& headers) const;
  /// Tells the ring how an upstream answered to the key.
  void See(const ResponseHead& answer) const;
  /// Tells it of an error in an answer's body, as the same HTTP error would be (StatusOfError).
  void SeeError(absl::string_view type, absl::string_view code) const;

 private:
  KeyRing* ring_;
  const config::Snapshot* snapshot_;
  const config::Pool* pool_;
  const config::Key* key_;
};

/// Which keys can be used now: one that was refused (401, 402, 403) not before the next edition of
/// the configuration, one over its limit (429) after the answer's `Retry-After`, else after a
/// backoff of 1 s, give or take a fifth, that doubles up to 60 s until an answer is a success; one
/// without a value not before it has one. Knows ids, no values. Thread-safe.
class KeyRing {
 public:
  using Eligible = absl::FunctionRef<bool(const config::Key&)>;
  using Listener = std::function<void(KeyStateChanged)>;

  /// `on_change` hears each change of a key's state, in order; it must not wait or call back. A key
  /// that may be used again is told of when it is. `clock` and `random` outlive the ring; `random`
  /// is used under its lock, and by nobody else.
  KeyRing(
      const Clock& clock, Random& random, Listener on_change = [](KeyStateChanged) {})
      : clock_(clock), random_(random), on_change_(std::move(on_change)) {}

  /// The next key of `pool` in turn that is usable and eligible, if any. `pool` is of `snapshot`.
  std::optional<KeyUse> Take(const config::Snapshot& snapshot, const config::Pool& pool,
                             Eligible eligible);
  /// Whether Take would find one. It may be refused to another exchange meanwhile.
  bool Has(const config::Snapshot& snapshot, const config::Pool& pool, Eligible eligible) const;
  /// The first key of `pool` that is usable, if any, out of turn: for what is no client's request.
  std::optional<KeyUse> First(const config::Snapshot& snapshot, const config::Pool& pool);

  /// How long until the first key of `pool` is usable; nothing if none will be before one of them,
  /// or the configuration, changes.
  std::optional<Duration> UsableIn(const config::Snapshot& snapshot,
                                   const config::Pool& pool) const;

  struct Reading {
    std::string id;
    KeyStateChanged::State state = KeyStateChanged::State::kActive;
    absl::Time until = absl::InfinitePast();  // of a resting key
  };
  /// The keys of `pool`, in the order of the configuration, as they are now.
  std::vector<Reading> Read(const config::Snapshot& snapshot, const config::Pool& pool) const;

 private:
  friend class KeyUse;

  struct State {
    uint64_t refused_in = 0;  // the edition in which it was refused; 0: in none
    Instant rests_until;
    Duration backoff{0};  // the last one; 0: none since the last success
    KeyStateChanged::State told = KeyStateChanged::State::kActive;  // the last that was told
  };

  void See(const config::Snapshot& snapshot, const config::Pool& pool, const config::Key& key,
           int status, const std::string* retry_after);
  /// Returns whether the key now rests for longer.
  bool Rest(State& state, const std::string* retry_after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const config::Pool& pool, const config::Key& key, KeyStateChanged::State now,
            State& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  KeyStateChanged::State StateOf(const config::Snapshot& snapshot, const config::Pool& pool,
                                 const config::Key& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsUsable(const config::Snapshot& snapshot, const config::Pool& pool,
                const config::Key& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return StateOf(snapshot, pool, key) == KeyStateChanged::State::kActive;
  }
  absl::Time WallOf(Instant at) const;

  const Clock& clock_;
  Random& random_;
  const Listener on_change_;
  mutable Mutex mutex_;
  std::map<std::string, State, std::less<>> states_ ABSL_GUARDED_BY(mutex_);    // by "pool/key"
  std::map<std::string, uint64_t, std::less<>> turns_ ABSL_GUARDED_BY(mutex_);  // by pool id
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_KEY_RING_H_
