#ifndef SLUICE_LIB_ADMISSION_RATE_LIMITER_H_
#define SLUICE_LIB_ADMISSION_RATE_LIMITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/config/config.h"

namespace sluice::admission {

/// How a bucket stands: of requests, or of tokens.
struct Budget {
  int64_t limit = 0;        // a minute; 0: there is none, and the rest says nothing
  int64_t remaining = 0;    // whole ones, never below 0
  Duration full_after{0};   // until all of `limit` is there again
  Duration retry_after{0};  // until a request finds enough; 0: it does now

  bool spent() const { return retry_after > Duration::zero(); }
  friend bool operator==(const Budget&, const Budget&) = default;
};

/// Whether a request is admitted, and how the buckets stand after that.
struct Verdict {
  enum Kind { kOk, kRequestsSpent, kTokensSpent };
  Kind kind = kOk;  // when both are spent, the one to wait longer for
  Budget requests;
  Budget tokens;

  /// Until a request finds enough of both.
  Duration retry_after() const { return std::max(requests.retry_after, tokens.retry_after); }
};

/// Requests and tokens a minute, by principal and model: each has two buckets that hold a minute's
/// worth and are refilled all the time. What a request costs in tokens is known after it, so a
/// request is admitted while any are left, and takes the balance below zero if it costs more; the
/// next are refused until that is paid back, an hour at most.
///
/// A bucket is kept as the time when it will be full again. So when a limit changes it stays filled
/// to the same part, a full one costs no memory, and each call says which rate holds.
///
/// Thread-safe. `rate` is of the policy that holds for `principal` and `model`.
class RateLimiter {
 public:
  /// `clock` must outlive it.
  explicit RateLimiter(const Clock& clock) : clock_(clock) {}

  /// Takes one request, if there is one and the balance of tokens is above 0. A refused request
  /// takes nothing.
  Verdict Admit(absl::string_view principal, absl::string_view model, const config::Rate& rate);

  /// Takes the tokens that a request reported.
  void Settle(absl::string_view principal, absl::string_view model, const config::Rate& rate,
              int64_t tokens);

  /// Whether a stream that has used `tokens` so far, none of them settled, would take the balance
  /// below 0.
  bool ExceedsNow(absl::string_view principal, absl::string_view model, const config::Rate& rate,
                  int64_t tokens) const;

  /// Pairs of principal and model that are kept.
  size_t size() const;

 private:
  using Key = std::pair<std::string, std::string>;  // principal, model
  using KeyView = std::pair<absl::string_view, absl::string_view>;
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const { return absl::HashOf(key); }
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const { return a == b; }
  };
  struct Buckets {
    Instant requests_full;  // when it will be, if nothing more is taken
    Instant tokens_full;
  };

  using Table = absl::node_hash_map<Key, Buckets, KeyHash, KeyEqual>;

  Buckets& FindOrAdd(const KeyView& key, Instant now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Looks at a few pairs in turn, so that no call pays for all.
  void ForgetFull(Instant now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  Table table_ ABSL_GUARDED_BY(mutex_);
  std::deque<const Table::value_type*> round_ ABSL_GUARDED_BY(mutex_);  // all of `table_`, in turn
};

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_RATE_LIMITER_H_
