#include "lib/relay/live_exchange.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/relay/finished_line.h"

namespace sluice::relay {
namespace {

/// What a detail may quote of an upstream: thousands of records are kept.
constexpr size_t kMaxDetailBytes = 1024;

}  // namespace

LiveExchange::LiveExchange(const Clock& clock, Observer& observer, ExchangeRegistry& registry,
                           Cancellation& cancellation, std::atomic<int>& in_flight,
                           Instant accepted)
    : clock_(clock),
      observer_(observer),
      registry_(registry),
      cancellation_(cancellation),
      in_flight_(in_flight),
      record_(std::make_shared<Exchange>()) {
  record_->stamps.accepted = accepted;
  in_flight_.fetch_add(1, std::memory_order_relaxed);
}

LiveExchange::~LiveExchange() { Finish(LossCause()); }

void LiveExchange::Start(ExchangeInfo info, std::optional<Allowance> allowance) {
  allowance_ = std::move(allowance);
  record_->subject = std::make_shared<const Subject>(
      Subject{.exchange = std::make_shared<const ExchangeInfo>(std::move(info))});
  registry_.Enter(record_, cancellation_);
  observer_.OnStarted(*record_);
}

size_t LiveExchange::BeginAttempt(std::string endpoint, absl::string_view key_id) {
  record_->stamps.upstream = {};
  record_->phase = Phase::kAttempt;
  Attempt attempt;
  attempt.index = static_cast<int>(record_->attempts.size());
  attempt.endpoint = std::move(endpoint);
  attempt.key_id = std::string(key_id);
  attempt.started = clock_.Now();
  SpeakOf(attempt);
  record_->attempts.push_back(std::move(attempt));
  observer_.OnAttempt(*record_, record_->attempts.back());
  return record_->attempts.size() - 1;
}

void LiveExchange::SpeakOf(const Attempt& attempt) {
  if (record_->subject->attempt == attempt.index + 1) return;
  record_->subject = std::make_shared<const Subject>(Subject{.exchange = record_->subject->exchange,
                                                             .endpoint = attempt.endpoint,
                                                             .key_id = attempt.key_id,
                                                             .attempt = attempt.index + 1});
}

void LiveExchange::UpstreamClosed() {
  if (finished() || record_->cancel_latency.has_value()) return;
  if (const std::optional<Instant> fired_at = cancellation_.fired_at()) {
    record_->cancel_latency = clock_.Now() - *fired_at;
  }
}

void LiveExchange::FailAttempt(size_t index, const AttemptFailure& failure) {
  UpstreamClosed();
  Attempt& attempt = record_->attempts[index];
  SpeakOf(attempt);
  attempt.ended = clock_.Now();
  attempt.failure = failure.cause;
  attempt.http_status = failure.status;
  attempt.detail = failure.detail.substr(0, kMaxDetailBytes);
  observer_.OnAttemptFailed(*record_, attempt);
}

void LiveExchange::AttemptDecides(size_t index, const UpstreamStamps& stamps) {
  std::vector<Attempt>& attempts = record_->attempts;
  const auto decides = attempts.begin() + static_cast<std::ptrdiff_t>(index);
  std::rotate(decides, decides + 1, attempts.end());
  SpeakOf(attempts.back());
  record_->stamps.upstream = stamps;
  registry_.AttemptsChanged(*record_);
}

void LiveExchange::Commit(int http_status) {
  record_->phase = Phase::kRelay;
  record_->http_status = http_status;
  record_->stamps.first_byte = clock_.Now();
  observer_.OnFirstByte(*record_);
}

void LiveExchange::Finish(Cause cause, absl::string_view detail) {
  if (finished()) return;
  record_->cause = cause;
  const bool cancelled = cancellation_.cause() == cause;
  record_->detail = detail.empty() && cancelled ? cancellation_.detail()
                                                : std::string(detail.substr(0, kMaxDetailBytes));
  record_->stamps.done = clock_.Now();
  if (!record_->attempts.empty() && !record_->attempts.back().ended.has_value()) {
    record_->attempts.back().ended = record_->stamps.done;
  }
  if (record_->usage.has_value()) {
    record_->provenance = cause == Cause::kCompleted ? Provenance::kReported : Provenance::kPartial;
  }
  if (allowance_.has_value() && record_->usage.has_value()) allowance_->Settle(*record_->usage);
  allowance_.reset();
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
  if (cause == Cause::kCompleted) observer_.OnDone(*record_);
  observer_.OnFinished(*record_);
  LogFinished(*record_);
}

}  // namespace sluice::relay
