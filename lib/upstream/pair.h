#ifndef SLUICE_LIB_UPSTREAM_PAIR_H_
#define SLUICE_LIB_UPSTREAM_PAIR_H_

#include <optional>

#include "absl/strings/string_view.h"

#include "lib/config/snapshot.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/tried.h"

namespace sluice::upstream {

/// What one attempt is made with: an endpoint, and a key unless its pool has none.
struct Pair {
  Lease lease;
  std::optional<KeyUse> key;

  absl::string_view key_id() const { return key ? absl::string_view(key->id()) : ""; }
};

/// Takes the next key and the next endpoint of `pool`, each in its turn, that `tried` allows
/// together; nothing when there are none. Draining endpoints are left out. `pool` is of `snapshot`,
/// which outlives the pair.
std::optional<Pair> AcquirePair(EndpointTable& endpoints, KeyRing& keys,
                                const config::Snapshot& snapshot, const config::Pool& pool,
                                const Tried& tried);

/// Whether AcquirePair would find one. Another exchange may have its key refused first.
bool PairRemains(const EndpointTable& endpoints, const KeyRing& keys,
                 const config::Snapshot& snapshot, const config::Pool& pool, const Tried& tried);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PAIR_H_
