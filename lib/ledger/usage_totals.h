#ifndef SLUICE_LIB_LEDGER_USAGE_TOTALS_H_
#define SLUICE_LIB_LEDGER_USAGE_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"
#include "lib/exchange/observer.h"

namespace sluice::ledger {

/// Sums over finished exchanges. A sum that no int64 can hold stays at the largest one.
struct UsageSums {
  int64_t exchanges = 0;
  int64_t completed = 0;  // those whose cause is kCompleted
  int64_t reported = 0;   // those whose usage was reported, in whole or in part
  int64_t partial = 0;    // of these, those in part: the answer broke off after it
  int64_t unknown = 0;    // an upstream worked, or may have, and reported no usage
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  int64_t total_tokens = 0;
  int64_t cached_tokens = 0;
  int64_t reasoning_tokens = 0;

  void Add(const UsageSums& more);
  friend bool operator==(const UsageSums&, const UsageSums&) = default;
};

/// What `x`, which has finished, adds to a sum.
UsageSums SumsOf(const Exchange& x);

/// Whom and what a sum is for. The views live as long as the totals that gave them.
struct UsageNames {
  absl::string_view principal = "";
  absl::string_view model = "";
  absl::string_view pool = "";
  absl::string_view endpoint = "";  // of the last attempt; "" if there was none

  friend bool operator==(const UsageNames&, const UsageNames&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const UsageNames& names) {
    return H::combine(std::move(h), names.principal, names.model, names.pool, names.endpoint);
  }
};

/// What sums are told apart by; none: one sum of all.
struct UsageGrouping {
  bool principal = false;
  bool model = false;
  bool pool = false;
  bool endpoint = false;
};

/// Stands for names that are too many, or too long.
inline constexpr absl::string_view kOtherName = "(other)";

/// What was used since the start, by principal, model, pool and endpoint. Thread-safe; an exchange
/// costs one look-up, and no memory if there is a row for it.
///
/// Names of models come from clients, so rows are bounded, and at most a tenth of them goes to one
/// principal in one pool: who invents names cannot take the rows of others. An exchange without a
/// row of its own is summed up under the model `(other)`; when a further tenth of rows is full of
/// these, under the principal `(other)` too; after another tenth, under `(other)` in everything. No
/// exchange is left out of the sums, and a row that was made stays.
class UsageTotals final : public Observer {
 public:
  static constexpr size_t kMaxRows = 10'000;
  /// A longer name of a model has no row of its own.
  static constexpr size_t kMaxModelBytes = 256;

  explicit UsageTotals(size_t max_rows = kMaxRows) : max_rows_(max_rows) {}

  void OnFinished(const Exchange& x) override;

  struct Row {
    UsageNames names;  // "" where they are not told apart
    UsageSums sums;
  };
  struct Reading {
    std::vector<Row> rows;  // the one with the most tokens first
    uint64_t folded = 0;    // exchanges without a row of their own
  };
  /// All sums are of the same moment.
  Reading Read(const UsageGrouping& group_by) const;

 private:
  struct Key {
    explicit Key(const UsageNames& names)
        : principal(names.principal),
          model(names.model),
          pool(names.pool),
          endpoint(names.endpoint) {}
    operator UsageNames() const { return {principal, model, pool, endpoint}; }

    std::string principal, model, pool, endpoint;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const UsageNames& names) const { return absl::Hash<UsageNames>()(names); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const UsageNames& a, const UsageNames& b) const { return a == b; }
  };

  /// The row of these names, which is made if it may be; else null.
  UsageSums* RowFor(const UsageNames& names, size_t max_rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  UsageSums* OwnRowFor(const UsageNames& names) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  UsageSums& SharedRowFor(const UsageNames& names) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_rows_;
  mutable Mutex mutex_;
  // None is ever erased, so names stay where they are, and may be read without the mutex.
  absl::node_hash_map<Key, UsageSums, Hash, Equal> rows_ ABSL_GUARDED_BY(mutex_);
  // The rows that a principal has made in a pool; model and endpoint are "".
  absl::flat_hash_map<Key, size_t, Hash, Equal> made_ ABSL_GUARDED_BY(mutex_);
  uint64_t folded_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::ledger

#endif  // SLUICE_LIB_LEDGER_USAGE_TOTALS_H_
