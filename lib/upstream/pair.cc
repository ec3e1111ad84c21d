#include "lib/upstream/pair.h"

#include <algorithm>
#include <utility>

namespace sluice::upstream {

std::variant<Pair, Shortage> AcquirePair(EndpointTable& endpoints, KeyRing& keys,
                                         const config::Snapshot& snapshot, const config::Pool& pool,
                                         const Tried& tried, const PickKey& pick) {
  std::optional<KeyUse> key;
  if (!pool.keys.empty()) {
    // What the endpoints lack for the usable key that comes nearest to having one.
    Shortage shortage = Shortage::kNoneConfigured;
    bool usable = false;
    key = keys.Take(snapshot, pool, [&](const config::Key& candidate) {
      usable = true;
      const std::optional<Shortage> lack = endpoints.Lacks(
          snapshot, pool, [&](absl::string_view id) { return tried.Allows(id, candidate.id); });
      if (lack.has_value()) shortage = std::max(shortage, *lack);
      return !lack.has_value();
    });
    if (!key.has_value()) return usable ? shortage : Shortage::kNoKey;
  }
  std::variant<Lease, Shortage> lease = endpoints.Acquire(
      snapshot, pool, [&](absl::string_view id) { return tried.Allows(id, key ? key->id() : ""); },
      pick);
  if (auto* shortage = std::get_if<Shortage>(&lease)) return *shortage;
  return Pair{std::get<Lease>(std::move(lease)), key};
}

bool PairRemains(EndpointTable& endpoints, const KeyRing& keys, const config::Snapshot& snapshot,
                 const config::Pool& pool, const Tried& tried) {
  const auto allows = [&](absl::string_view key) {
    return !endpoints.Lacks(snapshot, pool,
                            [&](absl::string_view id) { return tried.Allows(id, key); });
  };
  if (pool.keys.empty()) return allows("");
  return keys.Has(snapshot, pool,
                  [&](const config::Key& candidate) { return allows(candidate.id); });
}

}  // namespace sluice::upstream
