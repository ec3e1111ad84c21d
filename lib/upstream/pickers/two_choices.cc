#include "lib/upstream/pickers/load.h"
#include "lib/upstream/pickers/policies.h"

namespace sluice::upstream {
namespace {

class TwoChoices final : public Picker {
 public:
  explicit TwoChoices(Random& random) : random_(random) {}

  size_t Pick(const PickKey&, absl::Span<const Candidate> candidates) override {
    const TwoPlaces places = DrawTwo(candidates, random_);
    // Without the attempt to come: idle endpoints are equals, and the draw went by share already.
    const auto load = [&](size_t i) { return candidates[i].in_flight / ShareOf(candidates[i]); };
    return load(places.second) < load(places.first) ? places.second : places.first;
  }

 private:
  Random& random_;
};

}  // namespace

std::unique_ptr<Picker> TwoChoicesPicker(Random& random) {
  return std::make_unique<TwoChoices>(random);
}

}  // namespace sluice::upstream
