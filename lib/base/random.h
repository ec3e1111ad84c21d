#ifndef SLUICE_LIB_BASE_RANDOM_H_
#define SLUICE_LIB_BASE_RANDOM_H_

#include <cstdint>

#include "absl/random/random.h"

namespace sluice {

/// Where chance comes from, for spreading load and for jitter, so that tests decide it. Nothing
/// secret is made of it. Thread-compatible.
class Random {
 public:
  virtual ~Random() = default;
  /// All 64 bits uniform.
  virtual uint64_t Next() = 0;

  /// Uniform in [0, 1).
  double Unit();
  /// Uniform in [0, bound), which is not empty.
  uint64_t Below(uint64_t bound);
};

/// Seeded from the system.
class SystemRandom final : public Random {
 public:
  uint64_t Next() override;

 private:
  absl::InsecureBitGen generator_;
};

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_RANDOM_H_
