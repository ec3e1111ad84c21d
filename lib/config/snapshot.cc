#include "lib/config/snapshot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace sluice::config {

Snapshot::Snapshot(std::shared_ptr<const Version> version, Secrets secrets, uint64_t edition)
    : version_(std::move(version)), secrets_(std::move(secrets)), edition_(edition) {
  for (const Pool& pool : config().pools) pools_.emplace(pool.id, &pool);
  for (const Route& route : config().routes) {
    const Pool* pool = FindPool(route.pool);
    absl::string_view model = route.model;
    if (absl::ConsumeSuffix(&model, "*")) {
      prefix_routes_.emplace_back(model, pool);
    } else {
      exact_routes_.emplace(model, pool);
    }
  }
  std::sort(prefix_routes_.begin(), prefix_routes_.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

const Pool* Snapshot::PoolForModel(absl::string_view model) const {
  if (const auto exact = exact_routes_.find(model); exact != exact_routes_.end()) {
    return exact->second;
  }
  for (const auto& [prefix, pool] : prefix_routes_) {
    if (absl::StartsWith(model, prefix)) return pool;
  }
  return nullptr;
}

const Pool* Snapshot::FindPool(absl::string_view id) const {
  const auto found = pools_.find(id);
  return found == pools_.end() ? nullptr : found->second;
}

}  // namespace sluice::config
