#ifndef SLUICE_LIB_UPSTREAM_KEY_RING_H_
#define SLUICE_LIB_UPSTREAM_KEY_RING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
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
  /// Makes the key the only value of its field.
  void AddTo(HeaderList& headers) const;
  /// Tells the ring how an upstream answered to the key.
  void See(const ResponseHead& answer) const;

 private:
  KeyRing* ring_;
  const config::Snapshot* snapshot_;
  const config::Pool* pool_;
  const config::Key* key_;
};

/// Which keys can be used now: one that was refused (401, 402, 403) not before the next change of
/// the configuration, one over its limit (429) after the answer's `Retry-After`, else after a
/// backoff of 1 s that doubles up to 60 s until an answer is a success. Knows ids, no values.
/// Thread-safe.
class KeyRing {
 public:
  using Eligible = absl::FunctionRef<bool(const config::Key&)>;
  using Listener = std::function<void(KeyStateChanged)>;

  /// `on_change` hears each change of a key's state, in order; it must not wait or call back. A key
  /// that may be used again is told of when it is. `clock` must outlive the ring.
  explicit KeyRing(
      const Clock& clock, Listener on_change = [](KeyStateChanged) {})
      : clock_(clock), on_change_(std::move(on_change)) {}

  /// The next key of `pool` in turn that is usable and eligible, if any. `pool` is of `snapshot`.
  std::optional<KeyUse> Take(const config::Snapshot& snapshot, const config::Pool& pool,
                             Eligible eligible);
  /// Whether Take would find one. It may be refused to another exchange meanwhile.
  bool Has(const config::Snapshot& snapshot, const config::Pool& pool, Eligible eligible) const;

 private:
  friend class KeyUse;

  struct State {
    uint64_t refused_in = 0;  // the configuration in which it was refused; 0: in none
    Instant rests_until;
    Duration backoff{0};  // the last one; 0: none since the last success
    KeyStateChanged::State told = KeyStateChanged::State::kActive;  // the last that was told
  };

  void See(const config::Snapshot& snapshot, const config::Pool& pool, const config::Key& key,
           const ResponseHead& answer);
  /// Returns whether the key now rests for longer.
  bool Rest(State& state, const std::string* retry_after) const;
  void Tell(const config::Pool& pool, const config::Key& key, KeyStateChanged::State now,
            State& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsUsable(const config::Snapshot& snapshot, const config::Pool& pool,
                const config::Key& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  const Listener on_change_;
  mutable Mutex mutex_;
  std::map<std::string, State, std::less<>> states_ ABSL_GUARDED_BY(mutex_);    // by "pool/key"
  std::map<std::string, uint64_t, std::less<>> turns_ ABSL_GUARDED_BY(mutex_);  // by pool id
};

/// How long from `now` a `Retry-After` (RFC 9110 section 10.2.3: seconds or an HTTP date) asks to
/// wait, at most an hour; nothing when it is neither.
std::optional<Duration> ParseRetryAfter(absl::string_view value, absl::Time now);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_KEY_RING_H_
