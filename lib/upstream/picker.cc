#include "lib/upstream/picker.h"

#include "lib/upstream/pickers/policies.h"

namespace sluice::upstream {

std::unique_ptr<Picker> MakePicker(const config::Balancing& balancing, Random& random) {
  switch (balancing.policy) {
    case config::Balance::kRoundRobin:
      return RoundRobinPicker();
    case config::Balance::kWeighted:
      return WeightedPicker();
    case config::Balance::kLeastOutstanding:
      return LeastOutstandingPicker(random);
    case config::Balance::kTwoChoices:
      return TwoChoicesPicker(random);
    case config::Balance::kLatency:
      return LatencyPicker(random);
    case config::Balance::kConsistentHash:
      return ConsistentHashPicker(balancing.load_factor, random);
    case config::Balance::kPrefixAffinity:
      return PrefixAffinityPicker(balancing.load_factor, random);
  }
  return RoundRobinPicker();
}

}  // namespace sluice::upstream
