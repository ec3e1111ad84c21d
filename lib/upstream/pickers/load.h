#ifndef SLUICE_LIB_UPSTREAM_PICKERS_LOAD_H_
#define SLUICE_LIB_UPSTREAM_PICKERS_LOAD_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

#include "lib/base/random.h"
#include "lib/upstream/picker.h"

/// Private to the pickers: how loaded candidates are.
namespace sluice::upstream {

/// What part of its pool's requests a candidate is to get, beside the others.
inline double ShareOf(const Candidate& candidate) { return candidate.weight * candidate.warmth; }

/// What an attempt more would make of it.
inline double LoadOf(const Candidate& candidate) {
  return (candidate.in_flight + 1) / ShareOf(candidate);
}

/// Who may take an attempt more without rising above `factor` times the mean load, rounded up to
/// whole attempts: with `factor` >= 1 always somebody.
class LoadBound {
 public:
  LoadBound(absl::Span<const Candidate> candidates, double factor);
  bool Admits(const Candidate& candidate) const;

 private:
  double per_share_ = 0;  // attempts
};

/// Finds the best of candidates looked at one after the other, where many may be equally good: any
/// of those, with equal odds.
class FairChoice {
 public:
  explicit FairChoice(Random& random) : random_(random) {}

  void Restart(size_t place) {
    place_ = place;
    equals_ = 1;
  }
  void AddEqual(size_t place) {
    if (random_.Below(++equals_) == 0) place_ = place;
  }
  size_t place() const { return place_; }

 private:
  Random& random_;
  size_t place_ = 0;
  uint64_t equals_ = 0;
};

/// Two different places drawn by share, in the order they were drawn; the same twice if there is
/// but one.
struct TwoPlaces {
  size_t first;
  size_t second;
};
TwoPlaces DrawTwo(absl::Span<const Candidate> candidates, Random& random);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PICKERS_LOAD_H_
