#ifndef SLUICE_LIB_UPSTREAM_PAIR_H_
#define SLUICE_LIB_UPSTREAM_PAIR_H_

#include <optional>
#include <variant>

#include "absl/strings/string_view.h"

#include "lib/config/snapshot.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/picker.h"
#include "lib/upstream/tried.h"

namespace sluice::upstream {

/// What one attempt is made with: an endpoint, and a key unless its pool has none.
struct Pair {
  Lease lease;
  std::optional<KeyUse> key;

  absl::string_view key_id() const { return key ? absl::string_view(key->id()) : ""; }
};

/// Takes the next key of `pool` in its turn and the endpoint that its picker chooses, of those that
/// `tried` allows together. `pool` is of `snapshot`, which outlives the pair.
std::variant<Pair, Shortage> AcquirePair(EndpointTable& endpoints, KeyRing& keys,
                                         const config::Snapshot& snapshot, const config::Pool& pool,
                                         const Tried& tried, const PickKey& pick = {});

/// Whether AcquirePair would find one. Another exchange may take the last place first.
bool PairRemains(EndpointTable& endpoints, const KeyRing& keys, const config::Snapshot& snapshot,
                 const config::Pool& pool, const Tried& tried);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PAIR_H_
