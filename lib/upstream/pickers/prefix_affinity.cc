#include <cstdint>

#include "lib/upstream/pickers/identity.h"
#include "lib/upstream/pickers/load.h"
#include "lib/upstream/pickers/policies.h"
#include "lib/upstream/pickers/recent_set.h"

namespace sluice::upstream {
namespace {

class PrefixAffinity final : public Picker {
 public:
  PrefixAffinity(double load_factor, Random& random, size_t blocks)
      : load_factor_(load_factor), random_(random), seen_(blocks) {}

  size_t Pick(const PickKey& key, absl::Span<const Candidate> candidates) override {
    const LoadBound bound(candidates, load_factor_);
    FairChoice choice(random_);
    size_t longest = 0;
    double least = 0;
    bool any = false;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!bound.Admits(candidates[i])) continue;
      const size_t match = MatchLength(key.prefix, IdentityOf(candidates[i]));
      const double load = LoadOf(candidates[i]);
      if (!any || match > longest || (match == longest && load < least)) {
        any = true;
        longest = match;
        least = load;
        choice.Restart(i);
      } else if (match == longest && load == least) {
        choice.AddEqual(i);
      }
    }
    Remember(key.prefix, IdentityOf(candidates[choice.place()]));
    return choice.place();
  }

 private:
  /// A block's hash covers all blocks before it, so one is enough to tell where it belongs.
  static uint64_t PairOf(uint64_t block, uint64_t endpoint) { return block ^ endpoint; }

  /// How many of the first blocks `endpoint` has seen. If it has seen one, it has seen those before
  /// it: Remember adds those last.
  size_t MatchLength(absl::Span<const uint64_t> prefix, uint64_t endpoint) const {
    size_t seen = 0;
    size_t unseen = prefix.size() + 1;  // counts, not places
    while (unseen - seen > 1) {
      const size_t middle = seen + (unseen - seen) / 2;
      (seen_.Has(PairOf(prefix[middle - 1], endpoint)) ? seen : unseen) = middle;
    }
    return seen;
  }

  void Remember(absl::Span<const uint64_t> prefix, uint64_t endpoint) {
    for (size_t i = prefix.size(); i > 0; --i) seen_.Add(PairOf(prefix[i - 1], endpoint));
  }

  const double load_factor_;
  Random& random_;
  RecentSet seen_;
};

}  // namespace

std::unique_ptr<Picker> PrefixAffinityPicker(double load_factor, Random& random, size_t blocks) {
  return std::make_unique<PrefixAffinity>(load_factor, random, blocks);
}

}  // namespace sluice::upstream
