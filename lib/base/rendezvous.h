#ifndef SLUICE_LIB_BASE_RENDEZVOUS_H_
#define SLUICE_LIB_BASE_RENDEZVOUS_H_

#include <cstdint>

namespace sluice {

/// Weighted rendezvous hashing ("highest random weight"): of several nodes, the one with the
/// greatest score for `key` gets the key. Each node gets keys in proportion to its weight, and no
/// state is kept: a node that goes away gives up its own keys only, one whose weight grows takes
/// only what it gains. `weight` > 0, else the score is 0 and any other node comes first; scores are
/// the same in every process. https://www.ietf.org/archive/id/draft-ietf-bess-weighted-hrw-00.html
double RendezvousScore(uint64_t key, uint64_t node, double weight);

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_RENDEZVOUS_H_
