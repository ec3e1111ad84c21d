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
#include "lib/exchange/registry.h"
#include "lib/http/server.h"
#include "lib/http/upstream_client.h"
#include "lib/relay/proxy.h"
#include "lib/runtime/blocking.h"
#include "lib/runtime/loop_threads.h"
#include "lib/telemetry/exchange_timings.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "server/admin_handler.h"
#include "server/control_server.h"
#include "server/data_handler.h"
#include "server/state_dir.h"

namespace sluice::server {
namespace {

constexpr int kResolverThreads = 2;
/// For watchers to hear that the server ends.
constexpr Duration kControlGrace = std::chrono::seconds(1);

int LoopCount(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// Takes the configuration from the state; if that has none, from the options.
absl::Status LoadConfig(const GatewayOptions& options, config::Store& store) {
  if (!options.state.empty()) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<StateDir> state, StateDir::Open(options.state));
    SLUICE_RETURN_IF_ERROR(store.Open(std::move(state)));
  }
  const std::shared_ptr<const config::Snapshot> current = store.Current();
  if (!options.config.has_value()) return absl::OkStatus();
  if (current->generation() == 0) {
    return store.Update(*options.config, current->etag(), {.author = "--config", .origin = "start"})
        .status();
  }
  if (*options.config != current->config()) {
    Log(LogLevel::kWarning,
        "the file of --config is not used: the state holds another configuration; to use the file, "
        "apply it with `sluicectl config apply FILE`",
        {{"state", options.state}, {"generation", current->generation()}});
  }
  return absl::OkStatus();
}

}  // namespace

/// In order of construction; see ~Gateway for the end.
struct Gateway::Parts {
  explicit Parts(const GatewayOptions& options)
      : store(clock),
        hub_observer(hub, clock),
        resolvers(kResolverThreads),
        loops(LoopCount(options.loops)),
        upstreams(loops.loops(), resolvers),
        proxy({.clock = clock,
               .config = store,
               .endpoints = endpoints,
               .keys = keys,
               .transport = upstreams,
               .observer = observers,
               .registry = registry}),
        data_handler(store, proxy),
        data({.read = options.client_reads}, data_handler, loops.loops()),
        admin({}, admin_handler, loops.loops()) {
    observers.Add(&registry);
    observers.Add(&hub_observer);
    observers.Add(&timings);
    if (options.observer != nullptr) observers.Add(options.observer);
  }

  SystemClock clock;
  events::Hub hub;
  config::Store store;  // its listener publishes to the hub
  events::HubObserver hub_observer;
  ExchangeRegistry registry;
  telemetry::ExchangeTimings timings;
  Observers observers;
  upstream::EndpointTable endpoints;
  upstream::KeyRing keys{clock, [this](KeyStateChanged change) {
                           hub.Publish(events::EventOfGateway(clock.WallNow(), std::move(change)));
                         }};
  runtime::BlockingPool resolvers;
  runtime::LoopThreads loops;
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
  SLUICE_RETURN_IF_ERROR(LoadConfig(options, parts.store));
  const auto fit_ring = [&hub = parts.hub](const std::shared_ptr<const config::Snapshot>& current) {
    hub.Resize(static_cast<size_t>(current->config().limits.event_ring_capacity));
  };
  fit_ring(parts.store.Current());
  parts.store.AddListener(fit_ring);
  parts.store.AddListener(
      [&table = parts.endpoints](const auto& current) { table.ForgetAllBut(current->config()); });
  SLUICE_ASSIGN_OR_RETURN(parts.control, ControlServer::Start({.address = options.control,
                                                               .access = options.access,
                                                               .audit_log = options.audit_log,
                                                               .version = SLUICE_VERSION},
                                                              {.clock = parts.clock,
                                                               .config = parts.store,
                                                               .hub = parts.hub,
                                                               .registry = parts.registry,
                                                               .endpoints = parts.endpoints,
                                                               .data_plane = *gateway}));
  SLUICE_RETURN_IF_ERROR(parts.admin.Listen(options.admin));
  SLUICE_RETURN_IF_ERROR(parts.data.Listen(options.listen));
  Log(LogLevel::kInfo, "serving",
      {{"listen", gateway->port()},
       {"control", gateway->control_port()},
       {"admin", gateway->admin_port()},
       {"loops", parts.loops.loops().size()}});
  return gateway;
}

// Exchanges end first, while everything they touch is there; then the threads that carried them;
// then the control plane, which may still ask about both.
Gateway::~Gateway() {
  Drain();
  parts_->data.CancelAll(Cause::kDrained);
  parts_->admin.Drain();
  parts_->admin.CancelAll(Cause::kDrained);
  parts_->upstreams.ClosePools();
  parts_->loops.Join();
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
  return parts_->timings.cancel_latency();
}

int64_t Gateway::in_flight() const { return parts_->proxy.in_flight(); }
int64_t Gateway::accepted() const { return parts_->registry.books().entered; }
bool Gateway::draining() const { return parts_->data.draining(); }

std::map<uint64_t, int64_t, std::greater<>> Gateway::in_flight_by_generation() const {
  return parts_->registry.RunningByGeneration();
}

DataPlane::Resources Gateway::resources() const {
  Resources held = {.client_connections = parts_->data.connections(),
                    .admin_connections = parts_->admin.connections(),
                    .listeners = parts_->data.listeners() + parts_->admin.listeners()};
  for (const auto& loop : parts_->loops.loops()) {
    held.sockets += loop->sockets();
    held.fibers += loop->fibers();
  }
  const http::UpstreamClient::Pooled pooled = parts_->upstreams.pooled();
  held.pooled_connections = pooled.connections;
  held.pool_fibers = pooled.fibers;
  return held;
}

}  // namespace sluice::server
