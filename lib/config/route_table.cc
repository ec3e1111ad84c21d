#include "lib/config/route_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"

#include "lib/base/digest.h"
#include "lib/base/rendezvous.h"
#include "lib/config/glob.h"

namespace sluice::config {
namespace {

bool Matches(const HeaderMatch& match, const HeaderList& headers) {
  return std::any_of(headers.begin(), headers.end(), [&](const Header& field) {
    return absl::EqualsIgnoreCase(field.name, match.name) &&
           (match.value == "*" || field.value == match.value);
  });
}

bool MatchesAll(const Route& route, const HeaderList& headers) {
  return std::all_of(route.headers.begin(), route.headers.end(),
                     [&](const HeaderMatch& match) { return Matches(match, headers); });
}

/// Of two routes, which is looked at first; of patterns that are as literal, the one that comes
/// first in the alphabet, so that the order of the configuration does not matter.
bool Precedes(const Route* a, const Route* b) {
  const size_t literal_a = LiteralBytes(a->model);
  const size_t literal_b = LiteralBytes(b->model);
  if (literal_a != literal_b) return literal_a > literal_b;
  if (a->model != b->model) return a->model < b->model;
  return a->headers.size() > b->headers.size();
}

/// Of targets with weights, the one for `request`.
const RouteTarget& Choose(const std::vector<RouteTarget>& targets, uint64_t request) {
  return *std::max_element(
      targets.begin(), targets.end(), [request](const RouteTarget& a, const RouteTarget& b) {
        return RendezvousScore(request, HashOf(a.pool + "\n" + a.model), a.weight) <
               RendezvousScore(request, HashOf(b.pool + "\n" + b.model), b.weight);
      });
}

}  // namespace

RouteTable::RouteTable(const Config& config) {
  for (const Pool& pool : config.pools) pools_.emplace(pool.id, &pool);
  for (const Route& route : config.routes) {
    if (IsGlob(route.model)) {
      patterns_.push_back(&route);
    } else {
      exact_[route.model].push_back(&route);
    }
  }
  std::sort(patterns_.begin(), patterns_.end(), Precedes);
  for (auto& [model, routes] : exact_) std::sort(routes.begin(), routes.end(), Precedes);
  CollectModels(config);
}

const Pool* RouteTable::FindPool(absl::string_view id) const {
  const auto found = pools_.find(id);
  return found == pools_.end() ? nullptr : found->second;
}

const Route* RouteTable::Find(absl::string_view model, const HeaderList& headers) const {
  if (const auto exact = exact_.find(model); exact != exact_.end()) {
    for (const Route* route : exact->second) {
      if (MatchesAll(*route, headers)) return route;
    }
  }
  for (const Route* route : patterns_) {
    if (GlobMatches(route->model, model) && MatchesAll(*route, headers)) return route;
  }
  return nullptr;
}

std::vector<Destination> RouteTable::DestinationsOf(const Route& route, uint64_t request) const {
  std::vector<Destination> destinations;
  const auto add = [&](absl::string_view pool, absl::string_view model) {
    const Destination destination{FindPool(pool), model};
    if (std::find(destinations.begin(), destinations.end(), destination) == destinations.end()) {
      destinations.push_back(destination);
    }
  };
  if (route.targets.empty()) {
    add(route.pool, "");
  } else {
    const RouteTarget& chosen = Choose(route.targets, request);
    add(chosen.pool, chosen.model);
  }
  for (const RouteTarget& fallback : route.fallbacks) add(fallback.pool, fallback.model);
  return destinations;
}

void RouteTable::CollectModels(const Config& config) {
  std::set<std::string> models;
  for (const Route& route : config.routes) {
    if (!IsGlob(route.model)) {
      models.insert(route.model);
      continue;
    }
    const auto add_from = [&](absl::string_view pool) {
      for (const std::string& model : FindPool(pool)->models) {
        if (GlobMatches(route.model, model)) models.insert(model);
      }
    };
    if (route.targets.empty()) add_from(route.pool);
    for (const RouteTarget& target : route.targets) add_from(target.pool);
  }
  models_.assign(models.begin(), models.end());
}

}  // namespace sluice::config
