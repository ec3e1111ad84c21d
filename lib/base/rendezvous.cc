#include "lib/base/rendezvous.h"

#include <cmath>

namespace sluice {
namespace {

/// The finalizer of SplitMix64: each bit of the result depends on each of `x`.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

double RendezvousScore(uint64_t key, uint64_t node, double weight) {
  constexpr int kMantissaBits = 53;
  const uint64_t bits = Mix(Mix(key) + node) >> (64 - kMantissaBits);
  // In (0, 1), so that its logarithm is finite and not 0.
  const double unit =
      (static_cast<double>(bits) + 0.5) / static_cast<double>(uint64_t{1} << kMantissaBits);
  return -weight / std::log(unit);
}

}  // namespace sluice
