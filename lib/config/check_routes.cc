#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "lib/config/checks.h"

namespace sluice::config {
namespace {

constexpr int kMostWeight = 1'000'000;
constexpr size_t kLongestName = 128;  // of a principal
constexpr int kMostPriority = 100;
constexpr int64_t kMostPerMinute = 1'000'000'000'000;

void CheckTarget(const RouteTarget& target, const Checks::Ids& pools, const std::string& path,
                 Checks& checks) {
  if (target.pool.empty()) {
    checks.Add(path + ".pool", "is required");
  } else if (!pools.contains(target.pool)) {
    checks.Add(path + ".pool", absl::StrCat("there is no pool \"", target.pool, "\""));
  }
  checks.CheckRange(target.weight, 0, kMostWeight, path + ".weight");
  if (!target.model.empty()) checks.CheckModel(target.model, path + ".model");
}

void CheckTargets(const Route& route, const Checks::Ids& pools, const std::string& path,
                  Checks& checks) {
  if (!route.targets.empty() && !route.pool.empty()) {
    checks.Add(path + ".pool", "cannot be given beside targets");
  } else if (route.targets.empty()) {
    CheckTarget({.pool = route.pool}, pools, path, checks);
  }
  int64_t weights = 0;
  for (size_t i = 0; i < route.targets.size(); ++i) {
    CheckTarget(route.targets[i], pools, absl::StrCat(path, ".targets[", i, "]"), checks);
    weights += route.targets[i].weight;
  }
  if (!route.targets.empty() && weights == 0) {
    checks.Add(path + ".targets", "need a weight that is not 0");
  }
  for (size_t i = 0; i < route.fallbacks.size(); ++i) {
    CheckTarget(route.fallbacks[i], pools, absl::StrCat(path, ".fallbacks[", i, "]"), checks);
  }
}

/// What tells routes apart.
using Match = std::pair<std::string, std::set<std::pair<std::string, std::string>>>;

Match MatchOf(const Route& route) {
  Match match{route.model, {}};
  for (const HeaderMatch& header : route.headers) {
    match.second.emplace(absl::AsciiStrToLower(header.name), header.value);
  }
  return match;
}

bool IsPrincipalName(absl::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_isgraph(c); });
}

}  // namespace

void CheckRoutes(const std::vector<Route>& routes, const Checks::Ids& pools, Checks& checks) {
  std::set<Match> matches;
  for (size_t i = 0; i < routes.size(); ++i) {
    const Route& route = routes[i];
    const std::string path = absl::StrCat("routes[", i, "]");
    checks.CheckModel(route.model, path + ".model");
    for (size_t k = 0; k < route.headers.size(); ++k) {
      const std::string header = absl::StrCat(path, ".headers[", k, "]");
      checks.CheckFieldName(route.headers[k].name, header + ".name");
      if (route.headers[k].value.empty()) {
        checks.Add(header + ".value", "is required; \"*\" matches any");
      }
    }
    if (!route.model.empty() && !matches.insert(MatchOf(route)).second) {
      checks.Add(path + ".model", "another route has the same model and headers");
    }
    CheckTargets(route, pools, path, checks);
  }
}

void CheckPrincipals(const std::vector<Principal>& principals, Checks& checks) {
  std::set<absl::string_view> ids;
  for (size_t i = 0; i < principals.size(); ++i) {
    const Principal& principal = principals[i];
    const std::string path = absl::StrCat("principals[", i, "]");
    if (!IsPrincipalName(principal.id)) {
      checks.Add(path + ".id", "must be 1 to 128 printable ASCII characters without blanks");
    } else if (!ids.insert(principal.id).second) {
      checks.Add(path + ".id", absl::StrCat("\"", principal.id, "\" is used twice"));
    }
    for (size_t k = 0; k < principal.models.size(); ++k) {
      checks.CheckModel(principal.models[k], absl::StrCat(path, ".models[", k, "]"));
    }
    checks.CheckRange(principal.max_in_flight, 0, kMostWeight, path + ".max_in_flight");
    checks.CheckRange(principal.priority, -kMostPriority, kMostPriority, path + ".priority");
    std::set<absl::string_view> models;
    for (size_t k = 0; k < principal.rates.size(); ++k) {
      const Rate& rate = principal.rates[k];
      const std::string rate_path = absl::StrCat(path, ".rates[", k, "]");
      checks.CheckModel(rate.model, rate_path + ".model");
      if (!rate.model.empty() && !models.insert(rate.model).second) {
        checks.Add(rate_path + ".model", "another rate has the same model");
      }
      checks.CheckRange(rate.requests_per_minute, int64_t{0}, kMostPerMinute,
                        rate_path + ".requests_per_minute");
      checks.CheckRange(rate.tokens_per_minute, int64_t{0}, kMostPerMinute,
                        rate_path + ".tokens_per_minute");
    }
  }
}

}  // namespace sluice::config
