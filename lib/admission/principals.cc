#include "lib/admission/principals.h"

#include <algorithm>

#include "lib/config/glob.h"

namespace sluice::admission {

const config::Principal& PolicyFor(const config::Config& config, absl::string_view principal) {
  static const config::Principal unlimited;
  const config::Principal* everybody = &unlimited;
  for (const config::Principal& policy : config.principals) {
    if (policy.id == principal) return policy;
    if (policy.id == "*") everybody = &policy;
  }
  return *everybody;
}

bool MayUse(const config::Principal& policy, absl::string_view model) {
  return policy.models.empty() ||
         std::any_of(policy.models.begin(), policy.models.end(), [&](const std::string& pattern) {
           return config::GlobMatches(pattern, model);
         });
}

const config::Rate& RateFor(const config::Principal& policy, absl::string_view model) {
  static const config::Rate unlimited;
  for (const config::Rate& rate : policy.rates) {
    if (config::GlobMatches(rate.model, model)) return rate;
  }
  return unlimited;
}

}  // namespace sluice::admission
