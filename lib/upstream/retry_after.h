#ifndef SLUICE_LIB_UPSTREAM_RETRY_AFTER_H_
#define SLUICE_LIB_UPSTREAM_RETRY_AFTER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/clock.h"

namespace sluice::upstream {

/// How long from `now` a `Retry-After` (RFC 9110 section 10.2.3: seconds or an HTTP date) asks to
/// wait, at most an hour; nothing when it is neither.
std::optional<Duration> ParseRetryAfter(absl::string_view value, absl::Time now);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_RETRY_AFTER_H_
