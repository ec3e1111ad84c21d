#ifndef SLUICE_LIB_RELAY_ALLOWANCE_H_
#define SLUICE_LIB_RELAY_ALLOWANCE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

#include "lib/admission/rate_limiter.h"
#include "lib/admission/slots.h"
#include "lib/config/config.h"
#include "lib/exchange/exchange.h"

namespace sluice::relay {

/// What an exchange takes of its principal's limits: a place in flight until this is destroyed, and
/// the tokens it reports. Confined to the exchange's fiber.
class Allowance {
 public:
  /// `rates` must outlive it.
  Allowance(admission::RateLimiter& rates, admission::Slot slot)
      : rates_(&rates), slot_(std::move(slot)) {}

  /// From here on tokens count, of the bucket of `principal` for `rate`.
  void CountTokens(absl::string_view principal, const config::Rate& rate, bool end_streams) {
    if (rate.tokens_per_minute == 0) return;
    tokens_ = std::make_unique<Tokens>(Tokens{std::string(principal), rate, end_streams});
  }

  bool counts_tokens() const { return tokens_ != nullptr; }

  /// Whether a stream that has used so much must be ended.
  bool Exceeded(const Usage& usage) const {
    return tokens_ != nullptr && tokens_->end_streams &&
           rates_->ExceedsNow(tokens_->principal, tokens_->rate.model, tokens_->rate,
                              usage.total_tokens);
  }

  /// What the exchange has used in all. Once.
  void Settle(const Usage& usage) {
    if (tokens_ == nullptr) return;
    rates_->Settle(tokens_->principal, tokens_->rate.model, tokens_->rate, usage.total_tokens);
  }

 private:
  struct Tokens {
    std::string principal;
    config::Rate rate;
    bool end_streams;
  };

  admission::RateLimiter* rates_;
  admission::Slot slot_;
  std::unique_ptr<Tokens> tokens_;  // null: they do not count
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_ALLOWANCE_H_
