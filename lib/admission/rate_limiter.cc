#include "lib/admission/rate_limiter.h"

#include "absl/numeric/int128.h"

namespace sluice::admission {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr Duration kLongestDebt = std::chrono::hours(1);
constexpr int kLooksPerCall = 2;  // more than one, or the pairs could grow faster than they go

/// How long a bucket of `limit` takes to refill `count`.
Duration TimeFor(int64_t count, int64_t limit) {
  const absl::int128 time = absl::int128(count) * kMinute.count() / limit;
  return time > (kMinute + kLongestDebt).count() ? kMinute + kLongestDebt
                                                 : Duration(static_cast<int64_t>(time));
}

/// How long until the bucket is full: a minute when it is empty, more when it is in debt.
Duration UntilFull(Instant full, Instant now) { return std::max(full - now, Duration::zero()); }

void Take(Instant& full, Instant now, Duration time) {
  full = now + std::min(UntilFull(full, now) + time, kMinute + kLongestDebt);
}

/// `need`: the time for which a bucket is refilled with what a request must find.
Budget BudgetOf(Instant full, Instant now, int64_t limit, Duration need) {
  if (limit == 0) return {};
  const Duration missing = UntilFull(full, now);
  const absl::int128 there = absl::int128((kMinute - missing).count()) * limit / kMinute.count();
  return {.limit = limit,
          .remaining = std::max(static_cast<int64_t>(there), int64_t{0}),
          .full_after = missing,
          .retry_after = std::max(missing + need - kMinute, Duration::zero())};
}

Budget RequestsOf(Instant full, Instant now, int64_t limit) {
  return BudgetOf(full, now, limit, limit == 0 ? Duration::zero() : TimeFor(1, limit));
}

Budget TokensOf(Instant full, Instant now, int64_t limit) {
  return BudgetOf(full, now, limit, Duration(1));
}

Verdict::Kind Judge(const Budget& requests, const Budget& tokens) {
  if (!requests.spent() && !tokens.spent()) return Verdict::kOk;
  return requests.retry_after >= tokens.retry_after ? Verdict::kRequestsSpent
                                                    : Verdict::kTokensSpent;
}

}  // namespace

Verdict RateLimiter::Admit(absl::string_view principal, absl::string_view model,
                           const config::Rate& rate) {
  if (rate.requests_per_minute == 0 && rate.tokens_per_minute == 0) return {};
  const Instant now = clock_.Now();
  MutexLock lock(&mutex_);
  Buckets& buckets = FindOrAdd({principal, model}, now);
  Verdict verdict;
  verdict.requests = RequestsOf(buckets.requests_full, now, rate.requests_per_minute);
  verdict.tokens = TokensOf(buckets.tokens_full, now, rate.tokens_per_minute);
  verdict.kind = Judge(verdict.requests, verdict.tokens);
  if (verdict.kind == Verdict::kOk && rate.requests_per_minute != 0) {
    Take(buckets.requests_full, now, TimeFor(1, rate.requests_per_minute));
    verdict.requests = RequestsOf(buckets.requests_full, now, rate.requests_per_minute);
  }
  return verdict;
}

void RateLimiter::Settle(absl::string_view principal, absl::string_view model,
                         const config::Rate& rate, int64_t tokens) {
  if (rate.tokens_per_minute == 0 || tokens <= 0) return;
  const Instant now = clock_.Now();
  MutexLock lock(&mutex_);
  Take(FindOrAdd({principal, model}, now).tokens_full, now,
       TimeFor(tokens, rate.tokens_per_minute));
}

bool RateLimiter::ExceedsNow(absl::string_view principal, absl::string_view model,
                             const config::Rate& rate, int64_t tokens) const {
  if (rate.tokens_per_minute == 0) return false;
  const Instant now = clock_.Now();
  MutexLock lock(&mutex_);
  const auto found = table_.find(KeyView(principal, model));
  const Instant full = found == table_.end() ? now : found->second.tokens_full;
  return UntilFull(full, now) + TimeFor(tokens, rate.tokens_per_minute) > kMinute;
}

size_t RateLimiter::size() const {
  MutexLock lock(&mutex_);
  return table_.size();
}

RateLimiter::Buckets& RateLimiter::FindOrAdd(const KeyView& key, Instant now) {
  ForgetFull(now);
  auto found = table_.find(key);
  if (found == table_.end()) {
    found = table_.emplace(Key(key), Buckets{now, now}).first;
    round_.push_back(&*found);
  }
  return found->second;
}

void RateLimiter::ForgetFull(Instant now) {
  for (int looks = 0; looks < kLooksPerCall && !round_.empty(); ++looks) {
    const Table::value_type* next = round_.front();
    round_.pop_front();
    if (next->second.requests_full <= now && next->second.tokens_full <= now) {
      table_.erase(table_.find(next->first));
    } else {
      round_.push_back(next);
    }
  }
}

}  // namespace sluice::admission
