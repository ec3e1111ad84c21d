#include "lib/upstream/pair.h"

#include <algorithm>
#include <utility>

namespace sluice::upstream {
namespace {

bool SomeEndpointAllows(const EndpointTable& endpoints, const config::Pool& pool,
                        const Tried& tried, absl::string_view key) {
  return std::any_of(pool.endpoints.begin(), pool.endpoints.end(),
                     [&](const config::Endpoint& endpoint) {
                       return tried.Allows(endpoint.id, key) && endpoints.Takes(pool, endpoint);
                     });
}

}  // namespace

std::optional<Pair> AcquirePair(EndpointTable& endpoints, KeyRing& keys,
                                const config::Snapshot& snapshot, const config::Pool& pool,
                                const Tried& tried) {
  std::optional<KeyUse> key;
  if (!pool.keys.empty()) {
    key = keys.Take(snapshot, pool, [&](const config::Key& candidate) {
      return SomeEndpointAllows(endpoints, pool, tried, candidate.id);
    });
    if (!key.has_value()) return std::nullopt;
  }
  std::optional<Lease> lease = endpoints.Acquire(pool, [&](const config::Endpoint& endpoint) {
    return tried.Allows(endpoint.id, key ? key->id() : "");
  });
  if (!lease.has_value()) return std::nullopt;
  return Pair{*std::move(lease), key};
}

bool PairRemains(const EndpointTable& endpoints, const KeyRing& keys,
                 const config::Snapshot& snapshot, const config::Pool& pool, const Tried& tried) {
  if (pool.keys.empty()) return SomeEndpointAllows(endpoints, pool, tried, "");
  return keys.Has(snapshot, pool, [&](const config::Key& candidate) {
    return SomeEndpointAllows(endpoints, pool, tried, candidate.id);
  });
}

}  // namespace sluice::upstream
