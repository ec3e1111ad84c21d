#ifndef SLUICE_TESTS_SUPPORT_PATIENCE_H_
#define SLUICE_TESTS_SUPPORT_PATIENCE_H_

#include "lib/base/clock.h"

namespace sluice::testing {

/// How long a test waits for a condition before it fails. Far over any real wait, so that a loaded
/// machine fails nothing; a test that passes never waits it out.
inline constexpr Duration kPatience = std::chrono::seconds(30);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_PATIENCE_H_
