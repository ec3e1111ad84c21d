#include "lib/upstream/pickers/load.h"
#include "lib/upstream/pickers/policies.h"

namespace sluice::upstream {
namespace {

bool Unknown(const Candidate& candidate) { return candidate.first_frame <= Duration(0); }

bool Better(const Candidate& a, const Candidate& b) {
  if (Unknown(a) && Unknown(b)) return a.in_flight < b.in_flight;
  if (Unknown(a)) return a.in_flight == 0;
  if (Unknown(b)) return b.in_flight > 0;
  const auto wait = [](const Candidate& candidate) {
    return static_cast<double>(candidate.first_frame.count()) * (candidate.in_flight + 1);
  };
  return wait(a) < wait(b);
}

class Latency final : public Picker {
 public:
  explicit Latency(Random& random) : random_(random) {}

  size_t Pick(const PickKey&, absl::Span<const Candidate> candidates) override {
    const TwoPlaces places = DrawTwo(candidates, random_);
    return Better(candidates[places.second], candidates[places.first]) ? places.second
                                                                       : places.first;
  }

 private:
  Random& random_;
};

}  // namespace

std::unique_ptr<Picker> LatencyPicker(Random& random) { return std::make_unique<Latency>(random); }

}  // namespace sluice::upstream
