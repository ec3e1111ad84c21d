#include "server/gateway.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "lib/events/hub_observer.h"
#include "lib/exchange/observer.h"
#include "lib/http/server.h"
#include "lib/http/upstream_client.h"
#include "lib/relay/proxy.h"
#include "lib/runtime/blocking.h"
#include "lib/runtime/loop_threads.h"
#include "lib/telemetry/cancel_latency.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "server/admin_handler.h"
#include "server/control_server.h"
#include "server/data_handler.h"
#include "server/exchange_counts.h"

namespace sluice::server {
namespace {

constexpr int kResolverThreads = 2;
/// For watchers to hear that the server ends.
constexpr Duration kControlGrace = std::chrono::seconds(1);

int LoopCount(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

/// In order of construction; see ~Gateway for the end.
struct Gateway::Parts {
  explicit Parts(const GatewayOptions& options)
      : store(clock),
        hub_observer(hub, clock),
        resolvers(kResolverThreads),
        loops(std::make_unique<runtime::LoopThreads>(LoopCount(options.loops))),
        upstreams(loops->loops(), resolvers),
        proxy({.clock = clock,
               .config = store,
               .endpoints = endpoints,
               .keys = keys,
               .transport = upstreams,
               .observer = observers}),
        data_handler(store, proxy),
        data({.read = options.client_reads}, data_handler, loops->loops()),
        admin({}, admin_handler, loops->loops()) {
    observers.Add(&counts);
    observers.Add(&hub_observer);
    observers.Add(&cancel_latency);
    if (options.observer != nullptr) observers.Add(options.observer);
  }

  SystemClock clock;
  events::Hub hub;
  config::Store store;  // its listener publishes to the hub
  events::HubObserver hub_observer;
  ExchangeCounts counts;
  telemetry::CancelLatency cancel_latency;
  Observers observers;
  upstream::EndpointTable endpoints;
  upstream::KeyRing keys{clock};
  runtime::BlockingPool resolvers;
  std::unique_ptr<runtime::LoopThreads> loops;
  http::UpstreamClient upstreams;
  relay::Proxy proxy;
  DataHandler data_handler;
  AdminHandler admin_handler;
  http::Server data;
  http::Server admin;
  std::unique_ptr<ControlServer> control;
};

Gateway::Gateway(const GatewayOptions& options) : parts_(std::make_unique<Parts>(options)) {}

absl::StatusOr<std::unique_ptr<Gateway>> Gateway::Start(const GatewayOptions& options) {
  std::unique_ptr<Gateway> gateway(new Gateway(options));
  Parts& parts = *gateway->parts_;
  if (options.config.has_value()) {
    SLUICE_RETURN_IF_ERROR(
        parts.store.Update(*options.config, parts.store.Current()->etag()).status());
  }
  SLUICE_ASSIGN_OR_RETURN(
      parts.control,
      ControlServer::Start(
          {.address = options.control, .version = SLUICE_VERSION},
          {.clock = parts.clock, .config = parts.store, .hub = parts.hub, .status = *gateway}));
  SLUICE_RETURN_IF_ERROR(parts.admin.Listen(options.admin));
  SLUICE_RETURN_IF_ERROR(parts.data.Listen(options.listen));
  Log(LogLevel::kInfo, "serving",
      {{"listen", gateway->port()},
       {"control", gateway->control_port()},
       {"admin", gateway->admin_port()},
       {"loops", parts.loops->loops().size()}});
  return gateway;
}

// Exchanges end first, while everything they touch is there; then the threads that carried them.
Gateway::~Gateway() {
  Drain();
  parts_->data.CancelAll(Cause::kDrained);
  parts_->admin.Drain();
  parts_->admin.CancelAll(Cause::kDrained);
  parts_->upstreams.ClosePools();
  parts_->loops.reset();
  if (parts_->control != nullptr) parts_->control->Shutdown(kControlGrace);
}

void Gateway::Drain() {
  parts_->admin_handler.SetReady(false);
  parts_->data.Drain();
}

bool Gateway::idle() const { return parts_->data.connections() == 0; }

int Gateway::port() const { return parts_->data.port(); }
int Gateway::control_port() const { return parts_->control->port(); }
int Gateway::admin_port() const { return parts_->admin.port(); }

const telemetry::Histogram& Gateway::cancel_latency() const {
  return parts_->cancel_latency.histogram();
}

int64_t Gateway::in_flight() const { return parts_->proxy.in_flight(); }
int64_t Gateway::accepted() const { return parts_->counts.started(); }

}  // namespace sluice::server
