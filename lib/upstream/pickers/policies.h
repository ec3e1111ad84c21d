#ifndef SLUICE_LIB_UPSTREAM_PICKERS_POLICIES_H_
#define SLUICE_LIB_UPSTREAM_PICKERS_POLICIES_H_

#include <cstddef>
#include <memory>

#include "lib/base/random.h"
#include "lib/upstream/picker.h"

/// What MakePicker chooses from, one source file each. `random` outlives the picker.
namespace sluice::upstream {

/// Each in turn; one in its slow start is passed over at times, whatever the weights.
std::unique_ptr<Picker> RoundRobinPicker();

/// Smooth weighted round robin, as in nginx (https://github.com/nginx/nginx/commit/52327e0627f4):
/// shares are exact over a cycle, and the turns of a heavy endpoint lie apart.
std::unique_ptr<Picker> WeightedPicker();

/// The least load (LoadOf); any of those that have it.
std::unique_ptr<Picker> LeastOutstandingPicker(Random& random);

/// Of two drawn by weight, the one with fewer attempts in flight for its weight: never much worse
/// than the least of all, and no herd when many gateways look at the same numbers
/// (https://www.eecs.harvard.edu/~michaelm/postscripts/mythesis.pdf).
std::unique_ptr<Picker> TwoChoicesPicker(Random& random);

/// Of two drawn by weight, the one with less to wait for: time to first frame times attempts to
/// be in flight. One of unknown latency is tried by one request at a time.
std::unique_ptr<Picker> LatencyPicker(Random& random);

/// The endpoint to which the key's hash belongs, by RendezvousScore; the next one while that is
/// above the load bound (https://arxiv.org/abs/1608.01350). Requests without a hash: two choices.
std::unique_ptr<Picker> ConsistentHashPicker(double load_factor, Random& random);

/// The endpoint that was picked for the longest prefix of the prompt, of those within the load
/// bound; the least load among equals. Remembers at least the last `blocks` / 2 pairs of block and
/// endpoint, and at most `blocks` of them, at some 10 to 20 bytes.
inline constexpr size_t kPrefixBlocks = size_t{1} << 17;
std::unique_ptr<Picker> PrefixAffinityPicker(double load_factor, Random& random,
                                             size_t blocks = kPrefixBlocks);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PICKERS_POLICIES_H_
