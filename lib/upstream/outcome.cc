#include "lib/upstream/outcome.h"

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

#include "lib/upstream/retry_after.h"

namespace sluice::upstream {
namespace {

using enum Cause;

/// What decides about an attempt that ended with a cause.
enum class By {
  kCause,    // the cause alone: the endpoint's fault
  kNothing,  // the cause alone: says nothing of the endpoint
  kStatus,
  kErrorFrame,
};

constexpr std::array kDeciders = {
    By::kStatus,      // completed
    By::kNothing,     // client_gone
    By::kNothing,     // bad_request
    By::kNothing,     // request_timeout
    By::kNothing,     // body_too_large
    By::kNothing,     // uri_too_long
    By::kNothing,     // head_too_large
    By::kNothing,     // unauthenticated
    By::kNothing,     // forbidden
    By::kNothing,     // not_found
    By::kNothing,     // over_limit
    By::kNothing,     // no_capacity
    By::kCause,       // connect_failed
    By::kCause,       // tls_failed
    By::kCause,       // dns_failed
    By::kCause,       // upstream_reset
    By::kNothing,     // upstream_refused_503
    By::kStatus,      // upstream_status
    By::kErrorFrame,  // upstream_error_frame
    By::kCause,       // upstream_protocol
    By::kCause,       // truncated
    By::kCause,       // empty_answer
    By::kCause,       // connect_timeout
    By::kCause,       // first_frame_timeout
    By::kCause,       // idle_timeout
    By::kCause,       // frame_idle_timeout
    By::kNothing,     // hold_budget_spent: by all attempts together
    By::kNothing,     // cancelled_by_operator
    By::kNothing,     // drained
    By::kNothing,     // client_too_slow
    By::kNothing,     // internal
    By::kNothing,     // hedge_lost: another one was faster
};
static_assert(kDeciders.size() == static_cast<size_t>(kHedgeLost) + 1);

Outcome OutcomeOfStatus(int status) {
  if (status >= 500) {
    return status == 503 || status == 529 ? Outcome::kNeutral : Outcome::kFailure;
  }
  return status >= 100 && status < 400 ? Outcome::kSuccess : Outcome::kNeutral;
}

/// A name of an error without what differs between two spellings of it: `RateLimitError`,
/// `rate_limit_error`, `RATE-LIMIT`.
std::string Plain(absl::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      plain += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
  }
  for (const absl::string_view ending : {"error", "exception"}) {
    const size_t stem = plain.size() - std::min(plain.size(), ending.size());
    if (stem > 0 && absl::string_view(plain).substr(stem) == ending) plain.resize(stem);
  }
  return plain;
}

struct NamedStatus {
  absl::string_view name;  // as Plain leaves it
  int status;
};

constexpr NamedStatus kNamedStatuses[] = {
    {"invalidrequest", 400},
    {"invalidargument", 400},
    {"badrequest", 400},
    {"validation", 400},
    {"contextlengthexceeded", 400},
    {"contentfilter", 400},
    {"contentpolicyviolation", 400},
    {"failedprecondition", 400},
    {"outofrange", 400},
    {"authentication", 401},
    {"invalidapikey", 401},
    {"unauthenticated", 401},
    {"unauthorized", 401},
    {"billing", 402},
    {"billinghardlimitreached", 402},
    {"billingnotactive", 402},
    {"insufficientquota", 402},
    {"insufficientcredits", 402},
    {"paymentrequired", 402},
    {"permission", 403},
    {"permissiondenied", 403},
    {"accessdenied", 403},
    {"accountdeactivated", 403},
    {"forbidden", 403},
    {"notfound", 404},
    {"modelnotfound", 404},
    {"requesttoolarge", 413},
    {"unprocessableentity", 422},
    {"ratelimit", 429},
    {"ratelimitexceeded", 429},
    {"toomanyrequests", 429},
    {"resourceexhausted", 429},
    {"throttling", 429},
    {"tokens", 429},    // OpenAI's types of a rate limit
    {"requests", 429},  //
    {"unavailable", 503},
    {"serviceunavailable", 503},
    {"slowdown", 503},
    {"timeout", 504},
    {"deadlineexceeded", 504},
    {"overloaded", 529},
    {"enginecurrentlyoverloaded", 529},
};

/// 0 for a name that says nothing.
int StatusOfName(absl::string_view name) {
  int status = 0;
  if (absl::SimpleAtoi(name, &status)) return status >= 400 && status <= 599 ? status : 0;
  const std::string plain = Plain(name);
  for (const NamedStatus& row : kNamedStatuses) {
    if (row.name == plain) return row.status;
  }
  return 0;
}

}  // namespace

int StatusOfError(absl::string_view type, absl::string_view code) {
  if (const int status = StatusOfName(code); status != 0) return status;
  if (const int status = StatusOfName(type); status != 0) return status;
  return 500;
}

Outcome OutcomeOf(Cause cause, int status, absl::string_view type, absl::string_view code) {
  switch (kDeciders[static_cast<size_t>(cause)]) {
    case By::kCause:
      return Outcome::kFailure;
    case By::kNothing:
      return Outcome::kNeutral;
    case By::kStatus:
      return OutcomeOfStatus(status);
    case By::kErrorFrame:
      return OutcomeOfStatus(StatusOfError(type, code));
  }
  return Outcome::kNeutral;
}

std::optional<Duration> RestOf(const ResponseHead& answer, bool with_key, absl::Time now) {
  const bool asks =
      answer.status == 503 || answer.status == 529 || (answer.status == 429 && !with_key);
  const std::string* retry_after = asks ? answer.headers.Find("Retry-After") : nullptr;
  if (retry_after == nullptr) return std::nullopt;
  return ParseRetryAfter(*retry_after, now);
}

}  // namespace sluice::upstream
