#include "lib/base/rendezvous.h"
#include "lib/upstream/pickers/identity.h"
#include "lib/upstream/pickers/load.h"
#include "lib/upstream/pickers/policies.h"

namespace sluice::upstream {
namespace {

class ConsistentHash final : public Picker {
 public:
  ConsistentHash(double load_factor, Random& random)
      : load_factor_(load_factor), two_choices_(TwoChoicesPicker(random)) {}

  size_t Pick(const PickKey& key, absl::Span<const Candidate> candidates) override {
    if (!key.hash.has_value()) return two_choices_->Pick(key, candidates);
    const LoadBound bound(candidates, load_factor_);
    size_t picked = 0;
    double best = -1;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!bound.Admits(candidates[i])) continue;
      const double score =
          RendezvousScore(*key.hash, IdentityOf(candidates[i]), ShareOf(candidates[i]));
      if (score > best) {
        best = score;
        picked = i;
      }
    }
    return picked;
  }

 private:
  const double load_factor_;
  const std::unique_ptr<Picker> two_choices_;
};

}  // namespace

std::unique_ptr<Picker> ConsistentHashPicker(double load_factor, Random& random) {
  return std::make_unique<ConsistentHash>(load_factor, random);
}

}  // namespace sluice::upstream
