#include "server/gateway.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/admission/client_keys.h"
#include "lib/admission/gate.h"
#include "lib/base/local_address.h"
#include "lib/base/log.h"
#include "lib/base/random.h"
#include "lib/base/status.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "lib/events/hub_observer.h"
#include "lib/exchange/observer.h"
#include "lib/exchange/registry.h"
#include "lib/http/branches.h"
#include "lib/http/dns_discovery.h"
#include "lib/http/parking.h"
#include "lib/http/server.h"
#include "lib/http/upstream_client.h"
#include "lib/ledger/ledger_file.h"
#include "lib/ledger/usage_totals.h"
#include "lib/relay/proxy.h"
#include "lib/runtime/blocking.h"
#include "lib/runtime/loop_threads.h"
#include "lib/telemetry/exchange_timings.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/prober.h"
#include "lib/upstream/retry_budget.h"
#include "server/admin_handler.h"
#include "server/control_server.h"
#include "server/data_handler.h"
#include "server/metrics_page.h"
#include "server/probe_runner.h"
#include "server/reloader.h"
#include "server/state_dir.h"

namespace sluice::server {
namespace {

constexpr int kResolverThreads = 4;
/// For watchers to hear that the server ends.
constexpr Duration kControlGrace = std::chrono::seconds(1);

int LoopCount(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

absl::StatusOr<std::unique_ptr<ledger::LedgerFile>> OpenLedger(const std::string& path) {
  auto opened = ledger::LedgerFile::Open(path, {});
  if (opened.ok()) return opened;
  return absl::Status(opened.status().code(),
                      absl::StrCat("--ledger: ", opened.status().message()));
}

/// Null: anybody may call.
absl::StatusOr<std::unique_ptr<admission::ClientKeysFile>> OpenClientKeys(
    const GatewayOptions& options) {
  if (options.client_keys.empty()) {
    if (options.allow_anonymous || IsLocalAddress(options.listen)) {
      return std::unique_ptr<admission::ClientKeysFile>();
    }
    return absl::UnauthenticatedError(absl::StrCat(
        "--listen ", options.listen,
        " can be reached from other hosts: say with --client_keys FILE whose keys are good, or "
        "with --allow_anonymous that anybody may call"));
  }
  auto opened = admission::ClientKeysFile::Open(options.client_keys);
  if (opened.ok()) return opened;
  return absl::UnauthenticatedError(absl::StrCat("--client_keys: ", opened.status().message()));
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
  /// `data_plane` is what they make up together. `keys_of_clients` may be null.
  Parts(const GatewayOptions& options, std::unique_ptr<admission::ClientKeysFile> keys_of_clients,
        const DataPlane& data_plane)
      : store(clock),
        hub_observer(hub, clock),
        client_keys(std::move(keys_of_clients)),
        gate(clock),
        resolvers(kResolverThreads),
        loops(LoopCount(options.loops)),
        upstreams(loops.loops(), resolvers),
        proxy({.clock = clock,
               .config = store,
               .client_keys = client_keys.get(),
               .gate = gate,
               .endpoints = endpoints,
               .keys = keys,
               .retry_budgets = retry_budgets,
               .hedge_budgets = hedge_budgets,
               .transport = upstreams,
               .parking_lot = parking_lot,
               .branches = branches,
               .observer = observers,
               .registry = registry}),
        data_handler(store, proxy),
        admin_handler([this, &data_plane] {
          return MetricsPage({SLUICE_VERSION,
                              store,
                              registry,
                              hub,
                              timings,
                              endpoints,
                              {gate, keys, retry_budgets},
                              usage,
                              data_plane});
        }),
        data({.read = options.client_reads, .reuse_port = options.reuse_port}, data_handler,
             loops.loops()),
        admin({}, admin_handler, loops.loops()) {
    observers.Add(&registry);
    observers.Add(&hub_observer);
    observers.Add(&timings);
    observers.Add(&usage);
  }

  SystemClock clock;
  events::Hub hub;
  config::Store store;  // its listener publishes to the hub
  events::HubObserver hub_observer;
  ExchangeRegistry registry;
  telemetry::ExchangeTimings timings;
  ledger::UsageTotals usage;
  std::unique_ptr<ledger::LedgerFile> ledger;  // null: there is none
  Observers observers;
  const std::unique_ptr<admission::ClientKeysFile> client_keys;  // null: anybody may call
  admission::Gate gate;
  SystemRandom endpoint_random;
  upstream::EndpointTable endpoints{
      clock,
      endpoint_random,
      {.on_change = [this](EndpointStateChanged change) { Publish(std::move(change)); },
       .on_free = [this](const std::string& pool) { gate.queues.Signal(pool); }}};
  SystemRandom key_random;
  upstream::KeyRing keys{clock, key_random,
                         [this](KeyStateChanged change) { Publish(std::move(change)); }};
  upstream::RetryBudgets retry_budgets;
  upstream::HedgeBudgets hedge_budgets;
  runtime::BlockingPool resolvers;
  runtime::LoopThreads loops;
  http::UpstreamClient upstreams;
  http::FiberParkingLot parking_lot;
  http::FiberBranches branches;
  relay::Proxy proxy;
  DataHandler data_handler;
  AdminHandler admin_handler;
  http::Server data;
  http::Server admin;
  http::DnsDiscovery discovery{
      {}, [this](const std::string& host, const std::vector<std::string>& addresses) {
        endpoints.SetAddresses(host, addresses);
        gate.queues.SignalAll();
      }};
  Reloader reloader{store, client_keys.get(), gate.queues};
  SystemRandom probe_random;
  upstream::Prober prober{endpoints, keys, clock, probe_random};
  ProbeRunner probe_runner{prober, store, upstreams, clock, *loops.loops().front()};
  std::unique_ptr<ControlServer> control;

  template <typename Change>
  void Publish(Change change) {
    hub.Publish(events::EventOfGateway(clock.WallNow(), std::move(change)));
  }

  /// A configuration has become current.
  void Take(const config::Config& config) {
    hub.Resize(static_cast<size_t>(config.limits.event_ring_capacity));
    endpoints.ForgetAllBut(config);
    retry_budgets.ForgetAllBut(config);
    hedge_budgets.ForgetAllBut(config);
    discovery.SetNames(upstream::HostsToResolve(config));
    gate.queues.SignalAll();  // there may be more room than before
  }
};

Gateway::Gateway(const GatewayOptions& options,
                 std::unique_ptr<admission::ClientKeysFile> client_keys)
    : parts_(std::make_unique<Parts>(options, std::move(client_keys), *this)) {}

absl::StatusOr<std::unique_ptr<Gateway>> Gateway::Start(const GatewayOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<admission::ClientKeysFile> client_keys,
                          OpenClientKeys(options));
  std::unique_ptr<Gateway> gateway(new Gateway(options, std::move(client_keys)));
  Parts& parts = *gateway->parts_;
  if (!options.ledger.empty()) {
    SLUICE_ASSIGN_OR_RETURN(parts.ledger, OpenLedger(options.ledger));
    parts.observers.Add(parts.ledger.get());
  }
  if (options.observer != nullptr) parts.observers.Add(options.observer);
  SLUICE_RETURN_IF_ERROR(LoadConfig(options, parts.store));
  parts.Take(parts.store.Current()->config());
  parts.store.AddListener([&parts](const auto& current) { parts.Take(current->config()); });
  SLUICE_ASSIGN_OR_RETURN(
      parts.control, ControlServer::Start({.address = options.control,
                                           .access = options.access,
                                           .audit_log = options.audit_log,
                                           .version = SLUICE_VERSION},
                                          {.clock = parts.clock,
                                           .config = parts.store,
                                           .hub = parts.hub,
                                           .registry = parts.registry,
                                           .endpoints = parts.endpoints,
                                           .pools = {parts.gate, parts.keys, parts.retry_budgets},
                                           .usage = parts.usage,
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
  parts_->probe_runner.Stop();
  parts_->upstreams.ClosePools();
  parts_->loops.Join();
  if (parts_->control != nullptr) parts_->control->Shutdown(kControlGrace);
}

void Gateway::Reload() {
  parts_->reloader.ReloadNow();
  parts_->control->Reload();
  parts_->upstreams.ReloadTls();
  Log(LogLevel::kInfo, "read keys and certificates again");
}

void Gateway::AnnounceEnd() {
  parts_->admin_handler.SetReady(false);
  parts_->control->SetNotServing();
  parts_->data.AnnounceEnd();
}

void Gateway::Drain() {
  parts_->admin_handler.SetReady(false);
  parts_->proxy.Drain();
  parts_->data.Drain();
}

int64_t Gateway::undrained() const { return static_cast<int64_t>(parts_->data.undrained()); }
void Gateway::StopAccepting() { parts_->data.StopAccepting(); }
bool Gateway::idle() const {
  return parts_->data.listeners() == 0 && parts_->data.connections() == 0;
}

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
  held.upstream_connections = parts_->upstreams.open();
  held.pooled_connections = pooled.connections;
  held.upstream_fibers = pooled.fibers + parts_->probe_runner.fibers() + parts_->branches.running();
  return held;
}

}  // namespace sluice::server
