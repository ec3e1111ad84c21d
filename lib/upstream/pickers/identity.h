#ifndef SLUICE_LIB_UPSTREAM_PICKERS_IDENTITY_H_
#define SLUICE_LIB_UPSTREAM_PICKERS_IDENTITY_H_

#include <cstdint>

#include "lib/base/digest.h"
#include "lib/upstream/picker.h"

namespace sluice::upstream {

/// Stands for a candidate's name; the same in every process.
inline uint64_t IdentityOf(const Candidate& candidate) { return HashOf(candidate.name); }

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_PICKERS_IDENTITY_H_
