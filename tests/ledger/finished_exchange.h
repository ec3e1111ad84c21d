#ifndef SLUICE_TESTS_LEDGER_FINISHED_EXCHANGE_H_
#define SLUICE_TESTS_LEDGER_FINISHED_EXCHANGE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lib/exchange/exchange.h"

namespace sluice::testing {

struct Facts {
  uint64_t id = 1;
  std::string principal = "alice";
  std::string model = "m";
  std::string pool = "chat";
  std::string endpoint = "pools/chat/endpoints/a";
  Cause cause = Cause::kCompleted;
  std::optional<Usage> usage = std::nullopt;
};

/// The record that the relay leaves of such an exchange.
inline std::shared_ptr<Exchange> FinishedExchange(Facts facts) {
  auto x = std::make_shared<Exchange>();
  auto info = std::make_shared<ExchangeInfo>();
  info->id = {facts.id};
  info->principal = std::move(facts.principal);
  info->model = std::move(facts.model);
  info->pool = std::move(facts.pool);
  x->subject = std::make_shared<const Subject>(
      Subject{.exchange = std::move(info), .endpoint = facts.endpoint, .attempt = 1});
  x->attempts.emplace_back();
  x->attempts.back().endpoint = std::move(facts.endpoint);
  x->cause = facts.cause;
  x->usage = facts.usage;
  if (x->usage) x->provenance = Provenance::kReported;
  x->stamps.done = x->stamps.accepted;
  return x;
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_LEDGER_FINISHED_EXCHANGE_H_
