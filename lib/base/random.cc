#include "lib/base/random.h"

#include "absl/numeric/int128.h"

namespace sluice {

double Random::Unit() {
  constexpr int kMantissaBits = 53;
  return static_cast<double>(Next() >> (64 - kMantissaBits)) /
         static_cast<double>(uint64_t{1} << kMantissaBits);
}

uint64_t Random::Below(uint64_t bound) {
  // Lemire, https://arxiv.org/abs/1805.10941, without the last correction: what is uneven is less
  // than bound / 2^64.
  return absl::Uint128High64(absl::uint128(Next()) * bound);
}

uint64_t SystemRandom::Next() { return generator_(); }

}  // namespace sluice
