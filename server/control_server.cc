#include "server/control_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

#include "server/control_service.h"
#include "server/observer_service.h"

namespace sluice::server {
namespace {

constexpr int kMaxReceiveBytes = 16 << 20;  // a configuration of thousands of pools
// Clients may ping each 10 s; half of that tolerates jitter.
constexpr int kMinPingIntervalMs = 5'000;
// A watcher whose host has vanished is noticed within the sum of these.
constexpr int kKeepaliveTimeMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

void PublishChanges(config::Store& store, events::Hub& hub) {
  store.AddListener([&hub](const std::shared_ptr<const config::Snapshot>& snapshot) {
    events::Event event;
    event.time = snapshot->update_time();
    event.what = std::make_shared<const events::ConfigChanged>(
        events::ConfigChanged{snapshot->generation(), snapshot->etag()});
    hub.Publish(std::move(event));
  });
}

void Configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // gRPC shares the port by default: a second server would take half of the calls in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

struct ControlServer::Impl {
  Impl(const Options& options, const Deps& deps)
      : control(deps.config),
        observer(
            {options.version, options.max_watchers, options.heartbeat, options.watcher_write_limit},
            {deps.clock, deps.config, deps.hub, deps.status}) {}

  ControlService control;
  ObserverService observer;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::Start(const Options& options,
                                                                    const Deps& deps) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto impl = std::make_unique<Impl>(options, deps);
  grpc::ServerBuilder builder;
  Configure(builder);
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(), &impl->port);
  builder.RegisterService(&impl->control);
  builder.RegisterService(&impl->observer);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) {
    impl->observer.Shutdown();
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", options.address, " for the control plane"));
  }
  PublishChanges(deps.config, deps.hub);
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ControlServer::~ControlServer() { Shutdown(Duration::zero()); }

int ControlServer::port() const { return impl_->port; }

void ControlServer::Shutdown(Duration grace) {
  if (impl_->server == nullptr) return;
  impl_->server->GetHealthCheckService()->SetServingStatus(false);
  impl_->observer.Shutdown();
  impl_->server->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(grace.count(), GPR_TIMESPAN)));
  impl_->server = nullptr;
}

}  // namespace sluice::server
