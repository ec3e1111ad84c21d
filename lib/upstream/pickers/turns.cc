// The policies that take turns: round robin, and weighted.

#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "lib/upstream/pickers/identity.h"
#include "lib/upstream/pickers/load.h"
#include "lib/upstream/pickers/policies.h"

namespace sluice::upstream {
namespace {

enum class By { kWarmth, kShare };

/// Smooth weighted round robin. In each pick all candidates earn what they are to get, and whoever
/// has most pays what all have earned. One that is away neither earns nor pays.
class Turns final : public Picker {
 public:
  explicit Turns(By by) : by_(by) {}

  size_t Pick(const PickKey&, absl::Span<const Candidate> candidates) override {
    // Endpoints that are configured no more must not add up; the turns just start over.
    if (credits_.size() > 2 * candidates.size() + kMostAway) credits_.clear();
    double total = 0;
    size_t picked = 0;
    double most = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double share = by_ == By::kShare ? ShareOf(candidates[i]) : candidates[i].warmth;
      const double credit = credits_[IdentityOf(candidates[i])] += share;
      total += share;
      if (i == 0 || credit > most) {
        most = credit;
        picked = i;
      }
    }
    credits_[IdentityOf(candidates[picked])] -= total;
    return picked;
  }

 private:
  static constexpr size_t kMostAway = 64;

  const By by_;
  absl::flat_hash_map<uint64_t, double> credits_;  // by identity
};

}  // namespace

std::unique_ptr<Picker> RoundRobinPicker() { return std::make_unique<Turns>(By::kWarmth); }
std::unique_ptr<Picker> WeightedPicker() { return std::make_unique<Turns>(By::kShare); }

}  // namespace sluice::upstream
