#ifndef SLUICE_LIB_RELAY_LIVE_EXCHANGE_H_
#define SLUICE_LIB_RELAY_LIVE_EXCHANGE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/exchange/cancellation.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/observer.h"
#include "lib/exchange/registry.h"
#include "lib/relay/allowance.h"
#include "lib/relay/attempt.h"

namespace sluice::relay {

/// One exchange while it is served: its record, what its observers hear, and the guard that it
/// finishes exactly once. What it is given must outlive it. Confined to the exchange's fiber.
class LiveExchange {
 public:
  /// Counts the exchange in `in_flight` until it finishes. `registry` is among the observers.
  LiveExchange(const Clock& clock, Observer& observer, ExchangeRegistry& registry,
               Cancellation& cancellation, std::atomic<int>& in_flight, Instant accepted);
  /// Finishes an exchange that nobody finished, as lost.
  ~LiveExchange();
  LiveExchange(const LiveExchange&) = delete;
  LiveExchange& operator=(const LiveExchange&) = delete;

  /// Once, before all that follows. `allowance` is held until the exchange finishes.
  void Start(ExchangeInfo info, std::optional<Allowance> allowance);
  /// Returns its index in the record's attempts, which holds until AttemptDecides.
  size_t BeginAttempt(std::string endpoint, absl::string_view key_id);
  /// The upstream's connection has just been closed: of a cancelled exchange, that is its latency.
  /// The first call counts.
  void UpstreamClosed();
  /// The attempt at `index` came to nothing, and its connection is closed.
  void FailAttempt(size_t index, const AttemptFailure& failure);
  /// Of attempts made side by side, the one at `index` is what the exchange goes on with: it
  /// becomes the last of the record's, and `stamps` the record's stamps of the upstream.
  void AttemptDecides(size_t index, const UpstreamStamps& stamps);
  /// The one place where an exchange commits: nothing is retried from here on. The caller writes
  /// the head next.
  void Commit(int http_status);
  /// The last phase. The first call decides; more are ignored. For a cancellation that gave its own
  /// detail, none need be given.
  void Finish(Cause cause, absl::string_view detail = "");

  /// Why the exchange ends when its client can't be reached or it was cancelled.
  Cause LossCause() const { return cancellation_.cause().value_or(Cause::kClientGone); }

  /// Whether it must be ended because of the tokens it has used.
  bool OverAllowance() const {
    return allowance_.has_value() && record_->usage.has_value() &&
           allowance_->Exceeded(*record_->usage);
  }

  /// Whether its principal has a limit of tokens: what it uses should be reported.
  bool counts_tokens() const { return allowance_.has_value() && allowance_->counts_tokens(); }

  bool cancelled() const { return cancellation_.cause().has_value(); }

  Exchange& record() { return *record_; }
  bool finished() const { return record_->cause.has_value(); }
  Observer& observer() { return observer_; }
  const Clock& clock() const { return clock_; }

 private:
  /// What follows in the events is of `attempt`.
  void SpeakOf(const Attempt& attempt);

  const Clock& clock_;
  Observer& observer_;
  ExchangeRegistry& registry_;
  Cancellation& cancellation_;
  std::atomic<int>& in_flight_;
  const std::shared_ptr<Exchange> record_;
  std::optional<Allowance> allowance_;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_LIVE_EXCHANGE_H_
