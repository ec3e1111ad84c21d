#include "lib/admission/rate_limit_headers.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace sluice::admission {
namespace {

void AddBudget(const Budget& budget, absl::string_view kind, HeaderList& headers) {
  if (budget.limit == 0) return;
  headers.Add(absl::StrCat("x-ratelimit-limit-", kind), absl::StrCat(budget.limit));
  headers.Add(absl::StrCat("x-ratelimit-remaining-", kind), absl::StrCat(budget.remaining));
  headers.Add(absl::StrCat("x-ratelimit-reset-", kind), OpenAiDuration(budget.full_after));
}

}  // namespace

HeaderList RateLimitHeaders(const Verdict& verdict) {
  HeaderList headers;
  AddBudget(verdict.requests, "requests", headers);
  AddBudget(verdict.tokens, "tokens", headers);
  if (verdict.kind != Verdict::kOk) {
    headers.Add("Retry-After", RetryAfterSeconds(verdict.retry_after()));
  }
  return headers;
}

std::string RetryAfterSeconds(Duration wait) {
  return absl::StrCat(std::max<int64_t>(std::chrono::ceil<std::chrono::seconds>(wait).count(), 1));
}

std::string OpenAiDuration(Duration span) {
  const int64_t total = std::chrono::ceil<std::chrono::milliseconds>(span).count();
  if (total > 0 && total < 1000) return absl::StrCat(total, "ms");
  const int64_t hours = total / 3'600'000;
  const int64_t minutes = total / 60'000 % 60;
  const double seconds = static_cast<double>(total % 60'000) / 1000;
  if (hours > 0) return absl::StrCat(hours, "h", minutes, "m", seconds, "s");
  if (minutes > 0) return absl::StrCat(minutes, "m", seconds, "s");
  return absl::StrCat(seconds, "s");
}

}  // namespace sluice::admission
