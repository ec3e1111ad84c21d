#ifndef SLUICE_LIB_EXCHANGE_CAUSE_H_
#define SLUICE_LIB_EXCHANGE_CAUSE_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "lib/base/log.h"

namespace sluice {

/// Why an exchange, or one attempt of it, ended. Exactly one per exchange; the first one wins.
/// The proto enum `sluice.control.v1.Cause` is its twin, in the same order.
enum class Cause {
  kCompleted,
  kClientGone,
  kBadRequest,
  kRequestTimeout,
  kBodyTooLarge,
  kUriTooLong,
  kHeadTooLarge,
  kUnauthenticated,
  kForbidden,
  kNotFound,
  kOverLimit,
  kNoCapacity,
  kConnectFailed,
  kTlsFailed,
  kDnsFailed,
  kUpstreamReset,
  kUpstreamRefused503,
  kUpstreamStatus,
  kUpstreamErrorFrame,
  kUpstreamProtocol,
  kTruncated,
  kEmptyAnswer,
  kConnectTimeout,
  kFirstFrameTimeout,
  kIdleTimeout,
  kFrameIdleTimeout,
  kHoldBudgetSpent,
  kCancelledByOperator,
  kDrained,
  kClientTooSlow,
  kInternal,
  kHedgeLost,  // of an attempt only
};

/// Whether another attempt may follow an attempt that failed with this cause (DESIGN ruling 5).
enum class RetryClass {
  kNo,        // the answer stands, or nobody waits for one
  kAlways,    // no work was done upstream
  kByPolicy,  // work may have been done (and billed): the pool's `retry_after_send` decides
  kNextKey,   // the key is at fault
};

/// One row of the table of causes: everything that depends on the cause alone.
struct CauseInfo {
  Cause cause;
  absl::string_view label;  // in metrics, logs, events: "upstream_reset"
  int http_status;  // of the answer when nothing was committed; 0: there is no answer to give
  absl::string_view openai_type;     // `error.type` in OpenAI's shape
  absl::string_view anthropic_type;  // `error.type` in Anthropic's shape
  LogLevel level;
  RetryClass retry;
  absl::string_view message;  // to the client when nothing more exact is known; names no address
};

const CauseInfo& InfoOf(Cause cause);
absl::Span<const CauseInfo> AllCauses();
/// The reverse of `label`.
std::optional<Cause> ParseCause(absl::string_view label);

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_CAUSE_H_
