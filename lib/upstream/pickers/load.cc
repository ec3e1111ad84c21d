#include "lib/upstream/pickers/load.h"

#include <cmath>
#include <limits>

namespace sluice::upstream {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// A place other than `without`, by share; `total` is the sum of all shares but its. Some such
/// place there is.
size_t Draw(absl::Span<const Candidate> candidates, size_t without, double total, Random& random) {
  double rest = random.Unit() * total;
  size_t drawn = kNone;  // the last one, if rounding leaves something of `rest`
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (i == without) continue;
    drawn = i;
    rest -= ShareOf(candidates[i]);
    if (rest < 0) break;
  }
  return drawn;
}

}  // namespace

LoadBound::LoadBound(absl::Span<const Candidate> candidates, double factor) {
  double attempts = 1;  // the one to come
  double shares = 0;
  for (const Candidate& candidate : candidates) {
    attempts += candidate.in_flight;
    shares += ShareOf(candidate);
  }
  per_share_ = factor * attempts / shares;
}

bool LoadBound::Admits(const Candidate& candidate) const {
  return candidate.in_flight + 1 <= std::ceil(per_share_ * ShareOf(candidate));
}

TwoPlaces DrawTwo(absl::Span<const Candidate> candidates, Random& random) {
  if (candidates.size() == 1) return {0, 0};
  double total = 0;
  for (const Candidate& candidate : candidates) total += ShareOf(candidate);
  const size_t first = Draw(candidates, kNone, total, random);
  return {first, Draw(candidates, first, total - ShareOf(candidates[first]), random)};
}

}  // namespace sluice::upstream
