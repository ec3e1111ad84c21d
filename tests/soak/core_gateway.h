#ifndef SLUICE_TESTS_SOAK_CORE_GATEWAY_H_
#define SLUICE_TESTS_SOAK_CORE_GATEWAY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "gtest/gtest.h"

#include "lib/admission/gate.h"
#include "lib/base/random.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "lib/events/hub_observer.h"
#include "lib/exchange/observer.h"
#include "lib/exchange/registry.h"
#include "lib/http/branches.h"
#include "lib/http/parking.h"
#include "lib/http/server.h"
#include "lib/http/upstream_client.h"
#include "lib/ledger/usage_totals.h"
#include "lib/relay/proxy.h"
#include "lib/runtime/blocking.h"
#include "lib/runtime/loop_threads.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/retry_budget.h"
#include "tests/support/raw_client.h"

namespace sluice::testing {

/// The data plane on real sockets without the control plane, and so without gRPC, which
/// ThreadSanitizer does not understand. Its parts are there to be called from any thread, as the
/// control plane does. In order of construction.
struct CoreGateway {
  explicit CoreGateway(const http::ServerOptions& options = {})
      : server(options, handler, loops.loops()) {
    observers.Add(&registry);
    observers.Add(&hub_observer);
    observers.Add(&usage);
    store.AddListener([this](const auto& current) {
      endpoints.ForgetAllBut(current->config());
      retry_budgets.ForgetAllBut(current->config());
      hedge_budgets.ForgetAllBut(current->config());
      gate.queues.SignalAll();
    });
    EXPECT_TRUE(server.Listen("127.0.0.1:0").ok());
  }
  ~CoreGateway() { End(); }

  /// Ends what runs, and the threads.
  void End() {
    server.CancelAll(Cause::kDrained);
    upstreams.ClosePools();
    loops.Join();
    hub.Close();
  }

  /// Serves one request, which fills a table of cpp-httplib's. That is packaged without
  /// annotations: if two loops came to it first, ThreadSanitizer would see a race.
  void ServeFirst() {
    RawClient client = *RawClient::Connect(port());
    EXPECT_TRUE(client.Send(GetRequest("/")).ok());
    EXPECT_TRUE(client.ReadResponse().ok());
  }

  uint16_t port() const { return static_cast<uint16_t>(server.port()); }

  struct Handler final : http::Handler {
    explicit Handler(CoreGateway& gateway) : core(gateway) {}
    size_t max_body_bytes() const override { return size_t{1} << 20; }
    std::unique_ptr<Answer> Serve(Request request, Instant accepted,
                                  Cancellation& cancellation) override {
      return core.proxy.Serve(std::move(request), accepted, cancellation);
    }
    std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view message,
                                   absl::string_view client_address, Instant accepted,
                                   Cancellation& cancellation) override {
      return core.proxy.Refuse(cause, message, client_address, accepted, cancellation);
    }
    CoreGateway& core;
  };

  SystemClock clock;
  events::Hub hub{{.capacity = 4096}};
  config::Store store{clock};
  events::HubObserver hub_observer{hub, clock};
  ExchangeRegistry registry;
  ledger::UsageTotals usage;
  Observers observers;
  admission::Gate gate{clock};
  SystemRandom endpoint_random;
  upstream::EndpointTable endpoints{
      clock,
      endpoint_random,
      {.on_change =
           [this](EndpointStateChanged change) {
             hub.Publish(events::EventOfGateway(clock.WallNow(), std::move(change)));
           },
       .on_free = [this](const std::string& pool) { gate.queues.Signal(pool); }}};
  SystemRandom key_random;
  upstream::KeyRing keys{clock, key_random};
  upstream::RetryBudgets retry_budgets;
  upstream::HedgeBudgets hedge_budgets;
  runtime::BlockingPool resolvers{2};
  runtime::LoopThreads loops{2};
  http::UpstreamClient upstreams{loops.loops(), resolvers};
  http::FiberParkingLot parking_lot;
  http::FiberBranches branches;
  relay::Proxy proxy{{.clock = clock,
                      .config = store,
                      .client_keys = nullptr,
                      .gate = gate,
                      .endpoints = endpoints,
                      .keys = keys,
                      .retry_budgets = retry_budgets,
                      .hedge_budgets = hedge_budgets,
                      .transport = upstreams,
                      .parking_lot = parking_lot,
                      .branches = branches,
                      .observer = observers,
                      .registry = registry}};
  Handler handler{*this};
  http::Server server;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SOAK_CORE_GATEWAY_H_
