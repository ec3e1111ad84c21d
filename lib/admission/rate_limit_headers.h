#ifndef SLUICE_LIB_ADMISSION_RATE_LIMIT_HEADERS_H_
#define SLUICE_LIB_ADMISSION_RATE_LIMIT_HEADERS_H_

#include <cstdint>
#include <string>

#include "lib/admission/rate_limiter.h"
#include "lib/base/clock.h"
#include "lib/exchange/message.h"

namespace sluice::admission {

/// What OpenAI tells of its limits, for each of the two kinds that has one:
/// `x-ratelimit-limit-requests`, `-remaining-requests`, `-reset-requests`, and the same for tokens
/// (https://platform.openai.com/docs/guides/rate-limits). With a refusal, `Retry-After`.
HeaderList RateLimitHeaders(const Verdict& verdict);

/// The value of `Retry-After` (RFC 9110 section 10.2.3): whole seconds, rounded up, at least 1.
std::string RetryAfterSeconds(Duration wait);

/// A duration as those headers have it, rounded up to a millisecond: "0s", "17ms", "1.5s", "6m0s",
/// "1h0m0.25s".
std::string OpenAiDuration(Duration span);

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_RATE_LIMIT_HEADERS_H_
