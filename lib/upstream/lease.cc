#include "lib/upstream/lease.h"

#include <utility>

#include "lib/upstream/endpoint_table.h"

namespace sluice::upstream {

Lease::Lease(Lease&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)),
      member_(std::move(other.member_)),
      era_(other.era_),
      trial_(other.trial_) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Release();
    table_ = std::exchange(other.table_, nullptr);
    member_ = std::move(other.member_);
    era_ = other.era_;
    trial_ = other.trial_;
  }
  return *this;
}

void Lease::CountFailure() {
  member_->state->failed_attempts.fetch_add(1, std::memory_order_relaxed);
}

void Lease::FirstFrameAfter(Duration time) { table_->SeeFirstFrame(*member_, era_, time); }

void Lease::NoFrameFor(Duration time) { table_->SeeNoFrame(*member_, time); }

void Lease::Report(Outcome outcome, Cause cause, std::optional<Duration> rest) {
  trial_ = false;
  table_->SeeEnd(*member_, era_, {outcome, cause, rest});
}

void Lease::Release() {
  if (table_ == nullptr) return;
  if (trial_) Report(Outcome::kNeutral, Cause::kInternal);
  member_->state->in_flight.fetch_sub(1, std::memory_order_relaxed);
  EndpointTable& table = *std::exchange(table_, nullptr);
  if (member_->state->limited.load(std::memory_order_relaxed))
    table.listeners_.on_free(member_->pool->id);
}

}  // namespace sluice::upstream
