#include "lib/upstream/pickers/load.h"
#include "lib/upstream/pickers/policies.h"

namespace sluice::upstream {
namespace {

class LeastOutstanding final : public Picker {
 public:
  explicit LeastOutstanding(Random& random) : random_(random) {}

  size_t Pick(const PickKey&, absl::Span<const Candidate> candidates) override {
    FairChoice choice(random_);
    double least = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double load = LoadOf(candidates[i]);
      if (i == 0 || load < least) {
        least = load;
        choice.Restart(i);
      } else if (load == least) {
        choice.AddEqual(i);
      }
    }
    return choice.place();
  }

 private:
  Random& random_;
};

}  // namespace

std::unique_ptr<Picker> LeastOutstandingPicker(Random& random) {
  return std::make_unique<LeastOutstanding>(random);
}

}  // namespace sluice::upstream
