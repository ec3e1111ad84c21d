#ifndef SLUICE_LIB_RELAY_PROXY_H_
#define SLUICE_LIB_RELAY_PROXY_H_

#include <atomic>
#include <memory>

#include "absl/strings/string_view.h"

#include "lib/admission/client_keys.h"
#include "lib/admission/gate.h"
#include "lib/base/clock.h"
#include "lib/config/store.h"
#include "lib/exchange/cancellation.h"
#include "lib/exchange/message.h"
#include "lib/exchange/observer.h"
#include "lib/exchange/registry.h"
#include "lib/exchange/seams.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/hedge_budget.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/retry_budget.h"

namespace sluice::relay {

struct ProxyDeps {
  const Clock& clock;
  const config::Store& config;
  const admission::ClientKeysFile* client_keys;  // null: anybody may call
  admission::Gate& gate;
  upstream::EndpointTable& endpoints;
  upstream::KeyRing& keys;
  upstream::RetryBudgets& retry_budgets;
  upstream::HedgeBudgets& hedge_budgets;
  Transport& transport;
  ParkingLot& parking_lot;
  Branches& branches;
  Observer& observer;
  ExchangeRegistry& registry;  // among what `observer` calls
};

/// The life of an exchange: authenticate, admit, route, attempt and hold happen in Serve; commit,
/// relay and finish in the Answer it returns. Thread-safe; each call belongs to one fiber. Must
/// outlive its answers. Never null, never throws on account of a peer.
class Proxy {
 public:
  explicit Proxy(const ProxyDeps& deps);

  /// `accepted`: when the request's head had been read. `cancellation` must outlive the answer.
  std::unique_ptr<Answer> Serve(Request request, Instant accepted, Cancellation& cancellation);

  /// The exchange of bytes that were no acceptable request: it ends in the accept phase, as
  /// `cause`. `message` tells the client what was wrong.
  std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view message,
                                 absl::string_view client_address, Instant accepted,
                                 Cancellation& cancellation);

  /// Refuses, as `drained`, each request whose head is read from now on.
  void Drain() { drained_from_ = deps_.clock.Now(); }

  /// Exchanges between started and finished.
  int in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

 private:
  const ProxyDeps deps_;
  std::atomic<int> in_flight_{0};
  std::atomic<Instant> drained_from_{kNever};
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_PROXY_H_
