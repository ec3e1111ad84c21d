#ifndef SLUICE_LIB_ADMISSION_PRINCIPALS_H_
#define SLUICE_LIB_ADMISSION_PRINCIPALS_H_

#include "absl/strings/string_view.h"

#include "lib/config/config.h"

namespace sluice::admission {

/// The policy that holds for `principal`: the one of its name, else the one of "*", else one
/// without limits. What is counted is counted by `principal`, not by the policy's id. Of `config`,
/// or static.
const config::Principal& PolicyFor(const config::Config& config, absl::string_view principal);

/// Whether the policy allows `model` ("": the request names none).
bool MayUse(const config::Principal& policy, absl::string_view model);

/// The policy's rate for `model`: the first that matches; one without limits if none does. Of
/// `policy`, or static.
const config::Rate& RateFor(const config::Principal& policy, absl::string_view model);

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_PRINCIPALS_H_
