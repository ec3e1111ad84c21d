#include "lib/exchange/cause.h"

#include <array>
#include <cstddef>

namespace sluice {
namespace {

using enum Cause;
using enum LogLevel;

// OpenAI's types: https://platform.openai.com/docs/guides/error-codes (as its SDKs know them);
// Anthropic's: https://docs.anthropic.com/en/api/errors. The OpenAI `error.code` is the label.
// clang-format off
constexpr std::array kTable = {
    CauseInfo{kCompleted, "completed", 0, "", "", kInfo, RetryClass::kNo,
              ""},
    CauseInfo{kClientGone, "client_gone", 0, "", "", kInfo, RetryClass::kNo,
              ""},
    CauseInfo{kBadRequest, "bad_request", 400, "invalid_request_error", "invalid_request_error", kInfo, RetryClass::kNo,
              "the request cannot be understood"},
    CauseInfo{kRequestTimeout, "request_timeout", 408, "invalid_request_error", "invalid_request_error", kInfo, RetryClass::kNo,
              "the request did not arrive in time"},
    CauseInfo{kBodyTooLarge, "body_too_large", 413, "invalid_request_error", "request_too_large", kInfo, RetryClass::kNo,
              "the request body is too large"},
    CauseInfo{kUriTooLong, "uri_too_long", 414, "invalid_request_error", "invalid_request_error", kInfo, RetryClass::kNo,
              "the request target is too long"},
    CauseInfo{kHeadTooLarge, "head_too_large", 431, "invalid_request_error", "invalid_request_error", kInfo, RetryClass::kNo,
              "the request head is too large"},
    CauseInfo{kUnauthenticated, "unauthenticated", 401, "authentication_error", "authentication_error", kInfo, RetryClass::kNo,
              "the API key is missing or unknown"},
    CauseInfo{kForbidden, "forbidden", 403, "permission_error", "permission_error", kInfo, RetryClass::kNo,
              "the API key may not do this"},
    CauseInfo{kNotFound, "not_found", 404, "invalid_request_error", "not_found_error", kInfo, RetryClass::kNo,
              "nothing is served under this name"},
    CauseInfo{kOverLimit, "over_limit", 429, "rate_limit_error", "rate_limit_error", kInfo, RetryClass::kNo,
              "too many requests, try again later"},
    CauseInfo{kNoCapacity, "no_capacity", 503, "server_error", "overloaded_error", kWarning, RetryClass::kNo,
              "no upstream can take the request now, try again later"},
    CauseInfo{kConnectFailed, "connect_failed", 503, "server_error", "api_error", kWarning, RetryClass::kAlways,
              "the upstream could not be reached"},
    CauseInfo{kTlsFailed, "tls_failed", 502, "server_error", "api_error", kWarning, RetryClass::kAlways,
              "no secure connection to the upstream could be made"},
    CauseInfo{kDnsFailed, "dns_failed", 503, "server_error", "api_error", kWarning, RetryClass::kAlways,
              "the address of the upstream could not be found"},
    CauseInfo{kUpstreamReset, "upstream_reset", 502, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream closed the connection before its answer was complete"},
    CauseInfo{kUpstreamRefused503, "upstream_refused_503", 503, "server_error", "overloaded_error", kWarning, RetryClass::kAlways,
              "the upstream is overloaded"},
    CauseInfo{kUpstreamStatus, "upstream_status", 502, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream answered with an error"},
    CauseInfo{kUpstreamErrorFrame, "upstream_error_frame", 502, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream reported an error"},
    CauseInfo{kUpstreamProtocol, "upstream_protocol", 502, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the answer of the upstream was not valid HTTP"},
    CauseInfo{kTruncated, "truncated", 502, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the answer of the upstream ended before it was complete"},
    CauseInfo{kEmptyAnswer, "empty_answer", 502, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream ended its answer without any content"},
    CauseInfo{kConnectTimeout, "connect_timeout", 504, "server_error", "api_error", kWarning, RetryClass::kAlways,
              "the upstream did not accept a connection in time"},
    CauseInfo{kFirstFrameTimeout, "first_frame_timeout", 504, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream did not begin its answer in time"},
    CauseInfo{kIdleTimeout, "idle_timeout", 504, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream was silent for too long"},
    CauseInfo{kFrameIdleTimeout, "frame_idle_timeout", 504, "server_error", "api_error", kWarning, RetryClass::kByPolicy,
              "the upstream sent no content for too long"},
    CauseInfo{kHoldBudgetSpent, "hold_budget_spent", 504, "server_error", "api_error", kWarning, RetryClass::kNo,
              "no upstream began its answer in time"},
    CauseInfo{kCancelledByOperator, "cancelled_by_operator", 503, "server_error", "api_error", kInfo, RetryClass::kNo,
              "the request was cancelled by an operator"},
    CauseInfo{kDrained, "drained", 503, "server_error", "overloaded_error", kInfo, RetryClass::kNo,
              "what served the request was taken out of service, try again"},
    CauseInfo{kClientTooSlow, "client_too_slow", 0, "", "", kInfo, RetryClass::kNo,
              ""},
    CauseInfo{kInternal, "internal", 500, "server_error", "api_error", kError, RetryClass::kNo,
              "an internal error occurred"},
    CauseInfo{kHedgeLost, "hedge_lost", 0, "", "", kInfo, RetryClass::kNo,
              ""},
};
// clang-format on

constexpr bool RowsAreInEnumOrder() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].cause) != i) return false;
  }
  return kTable.size() == static_cast<size_t>(kHedgeLost) + 1;
}
static_assert(RowsAreInEnumOrder());

}  // namespace

const CauseInfo& InfoOf(Cause cause) { return kTable[static_cast<size_t>(cause)]; }

absl::Span<const CauseInfo> AllCauses() { return kTable; }

std::optional<Cause> ParseCause(absl::string_view label) {
  for (const CauseInfo& row : kTable) {
    if (row.label == label) return row.cause;
  }
  return std::nullopt;
}

}  // namespace sluice
