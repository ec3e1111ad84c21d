#ifndef SLUICE_LIB_UPSTREAM_PICKER_H_
#define SLUICE_LIB_UPSTREAM_PICKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "lib/base/clock.h"
#include "lib/base/random.h"
#include "lib/config/config.h"

namespace sluice::upstream {

/// An endpoint that may be picked now.
struct Candidate {
  absl::string_view name;  // tells it from others, in all picks
  double weight = 1;       // > 0; as configured
  double warmth = 1;       // in (0, 1]; less than 1 in its slow start
  int in_flight = 0;
  Duration first_frame{0};  // what PeakEwma says of it now; 0: unknown
};

/// What of a request a picker may go by.
struct PickKey {
  std::optional<uint64_t> hash = {};  // of what the pool's `hash_on` names
  absl::Span<const uint64_t> prefix =
      {};  // of the prompt's blocks, as dialect::PromptBlocks has it
};

/// How a pool chooses among its endpoints. Keeps what it needs to know of earlier picks, in bounded
/// memory; candidates may come, go and change between picks. Thread-compatible.
class Picker {
 public:
  virtual ~Picker() = default;
  /// The place of one of `candidates`, of which there is at least one. The request is taken to go
  /// there.
  virtual size_t Pick(const PickKey& key, absl::Span<const Candidate> candidates) = 0;
};

/// The picker for `balancing.policy`. `random` outlives it and is used in Pick only.
std::unique_ptr<Picker> MakePicker(const config::Balancing& balancing, Random& random);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PICKER_H_
