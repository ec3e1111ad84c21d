#include "lib/relay/soonest_retry.h"

#include <optional>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/upstream/retry_after.h"

namespace sluice::relay {
namespace {

constexpr absl::string_view kRetryAfter = "Retry-After";

}  // namespace

void SoonestRetry::See(const ResponseHead& answer, absl::Time now) {
  const std::string* value = answer.headers.Find(kRetryAfter);
  if (value == nullptr) return;
  const std::optional<Duration> wait = upstream::ParseRetryAfter(*value, now);
  if (!wait.has_value() || now + absl::FromChrono(*wait) >= at_) return;
  at_ = now + absl::FromChrono(*wait);
  value_ = *value;
}

void SoonestRetry::PutInto(ResponseHead& answer) const {
  if (value_.empty() || answer.headers.Find(kRetryAfter) == nullptr) return;
  answer.headers.Set(kRetryAfter, value_);
}

}  // namespace sluice::relay
