#include "server/control_server.h"

#include <sys/resource.h>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

#include "lib/base/status.h"
#include "server/access.h"
#include "server/audit.h"
#include "server/control_service.h"
#include "server/grpc_log.h"
#include "server/observer_service.h"
#include "server/usage_rpcs.h"

namespace sluice::server {
namespace {

constexpr int kMaxReceiveBytes = 16 << 20;  // a configuration of thousands of pools
// Clients may ping each 10 s; half of that tolerates jitter.
constexpr int kMinPingIntervalMs = 5'000;
// A watcher whose host has vanished is noticed within the sum of these.
constexpr int kKeepaliveTimeMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// What peers can hold that nobody has admitted yet: gRPC bounds no number of connections, but ends
// calls and takes no new connections while all of them together need more memory than this.
constexpr size_t kMaxMemoryBytes = 256 << 20;
constexpr int kMaxCallsPerConnection = 100;
constexpr int kHandshakeTimeoutMs = 10'000;
constexpr int kMaxIdleConnectionMs = 10 * 60'000;

// How late the news of a drain or a tail may be.
constexpr Duration kStreamInterval = std::chrono::milliseconds(20);
constexpr int kNice = 10;  // a tenth of the share of a thread of the data plane

constexpr size_t kMaxTails = 64;
constexpr size_t kMaxDrains = 64;

void PublishChanges(config::Store& store, events::Hub& hub) {
  store.AddListener([&hub, published = uint64_t{0}](
                        const std::shared_ptr<const config::Snapshot>& snapshot) mutable {
    // The keys of a version may be read again.
    if (std::exchange(published, snapshot->generation()) == snapshot->generation()) return;
    hub.Publish(events::EventOfGateway(
        snapshot->update_time(), events::ConfigChanged{snapshot->generation(), snapshot->etag()}));
  });
}

void Configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.SetResourceQuota(grpc::ResourceQuota("control").Resize(kMaxMemoryBytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMaxIdleConnectionMs);
  // gRPC shares the port by default: a second server would take half of the calls in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

struct ControlServer::Impl {
  Impl(const Options& options, const Deps& deps, std::unique_ptr<AuditLog> audit_log,
       std::unique_ptr<Access> checked)
      : audit(std::move(audit_log)),
        access(std::move(checked)),
        config_rpcs(deps.config, deps.data_plane, *audit),
        endpoint_rpcs(deps.clock, deps.config, deps.endpoints, deps.pools, deps.hub, *audit),
        exchange_rpcs(deps.clock, deps.registry, *audit),
        usage_rpcs(deps.clock, deps.usage),
        server_rpcs(deps.clock, deps.data_plane, *audit, [this] { SetNotServing(); }),
        leaks(deps.registry, deps.endpoints, deps.data_plane, port),
        tails(deps.clock, {"tails", kMaxTails, kStreamInterval, {}}),
        drains(deps.clock, {"drains", kMaxDrains, kStreamInterval, {}}),
        control({*access,
                 config_rpcs,
                 endpoint_rpcs,
                 exchange_rpcs,
                 server_rpcs,
                 {deps.clock, drains, deps.registry, options.watcher_write_limit}}),
        observer({options.version, options.max_watchers, options.heartbeat},
                 {deps.clock,
                  deps.config,
                  deps.hub,
                  deps.data_plane,
                  *access,
                  endpoint_rpcs,
                  exchange_rpcs,
                  usage_rpcs,
                  leaks,
                  {deps.clock, tails, deps.registry, options.watcher_write_limit}}) {}

  const std::unique_ptr<AuditLog> audit;
  const std::unique_ptr<Access> access;
  ConfigRpcs config_rpcs;
  EndpointRpcs endpoint_rpcs;
  ExchangeRpcs exchange_rpcs;
  UsageRpcs usage_rpcs;
  ServerRpcs server_rpcs;
  LeakCheck leaks;
  StreamPump tails;
  StreamPump drains;
  ControlService control;
  ObserverService observer;
  int port = 0;
  std::unique_ptr<grpc::Server> server;

  /// For good. Calls may come before Start has the server that serves them.
  void SetNotServing() {
    MutexLock lock(&health_mutex);
    not_serving = true;
    if (health != nullptr) health->SetServingStatus(false);
  }
  void SetHealth(grpc::HealthCheckServiceInterface* service) {
    MutexLock lock(&health_mutex);
    health = service;
    if (not_serving) health->SetServingStatus(false);
  }
  Mutex health_mutex;
  bool not_serving ABSL_GUARDED_BY(health_mutex) = false;
  grpc::HealthCheckServiceInterface* health ABSL_GUARDED_BY(health_mutex) = nullptr;
};

// Watchers must not take the processor from streams. A thread has the priority of the one that made
// it, so all that the server and gRPC start have that of this one.
absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::Start(const Options& options,
                                                                    const Deps& deps) {
  absl::StatusOr<std::unique_ptr<ControlServer>> started = absl::UnknownError("");
  std::thread starter([&] {
    constexpr id_t kThisThread = 0;  // on Linux
    setpriority(PRIO_PROCESS, kThisThread, kNice);
    started = StartHere(options, deps);
  });
  starter.join();
  return started;
}

absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::StartHere(const Options& options,
                                                                        const Deps& deps) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  RouteGrpcLog();
  absl::StatusOr<std::unique_ptr<AuditLog>> audit = AuditLog::Open(deps.clock, options.audit_log);
  if (!audit.ok()) {
    return absl::Status(audit.status().code(),
                        absl::StrCat("--audit_log: ", audit.status().message()));
  }
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Access> access,
                          Access::Open(options.address, options.access, deps.clock, **audit));
  auto impl = std::make_unique<Impl>(options, deps, *std::move(audit), std::move(access));
  grpc::ServerBuilder builder;
  Configure(builder);
  builder.AddListeningPort(options.address, impl->access->credentials(), &impl->port);
  builder.RegisterService(&impl->control);
  builder.RegisterService(&impl->observer);
  const GrpcLogCapture errors;
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) {
    impl->observer.Shutdown();
    const std::string why = errors.SystemError();
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options.address,
                                               " for the control plane", why.empty() ? "" : ": ",
                                               why));
  }
  impl->SetHealth(impl->server->GetHealthCheckService());
  PublishChanges(deps.config, deps.hub);
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ControlServer::~ControlServer() { Shutdown(Duration::zero()); }

int ControlServer::port() const { return impl_->port; }

void ControlServer::Reload() { impl_->access->Reload(); }
void ControlServer::SetNotServing() { impl_->SetNotServing(); }

void ControlServer::Shutdown(Duration grace) {
  if (impl_->server == nullptr) return;
  impl_->SetNotServing();
  impl_->observer.Shutdown();
  impl_->tails.Shutdown();
  impl_->drains.Shutdown();
  impl_->server->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(grace.count(), GPR_TIMESPAN)));
  impl_->server = nullptr;
}

}  // namespace sluice::server
