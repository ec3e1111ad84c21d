#ifndef SLUICE_LIB_UPSTREAM_PICKERS_RECENT_SET_H_
#define SLUICE_LIB_UPSTREAM_PICKERS_RECENT_SET_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace sluice::upstream {

/// The hashes added last: at least the last `capacity` / 2 different ones, never more than
/// `capacity`. What was added before something that is forgotten, and not since, is forgotten too.
/// Costs no link between entries: there are two generations, and the old one goes as a whole.
/// Thread-compatible.
class RecentSet {
 public:
  explicit RecentSet(size_t capacity) : half_(capacity / 2) {}

  bool Has(uint64_t hash) const { return young_.contains(hash) || old_.contains(hash); }

  /// What was there is now the last added.
  void Add(uint64_t hash) {
    if (young_.contains(hash)) return;
    if (young_.size() == half_) {
      std::swap(young_, old_);
      young_.clear();
    }
    young_.insert(hash);
  }

  size_t size() const { return young_.size() + old_.size(); }

 private:
  const size_t half_;
  absl::flat_hash_set<uint64_t> young_;
  absl::flat_hash_set<uint64_t> old_;  // some may be young as well
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PICKERS_RECENT_SET_H_
