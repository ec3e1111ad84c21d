#ifndef SLUICE_SERVER_OBSERVER_SERVICE_H_
#define SLUICE_SERVER_OBSERVER_SERVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "server/access.h"
#include "server/data_plane.h"
#include "server/endpoint_rpcs.h"
#include "server/exchange_rpcs.h"
#include "server/leak_check.h"
#include "server/pumped_stream.h"
#include "server/stream_pump.h"
#include "server/usage_rpcs.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"

namespace sluice::server {

/// The viewer's RPCs; their contract is in the proto. Uses gRPC's callback API: a watcher costs no
/// thread.
///
/// The pump of the watchers waits for news from the hub, so publishers wake at most one thread, and
/// that at most once per kBatchInterval.
class ObserverService final : public control::v1::ObserverService::CallbackService {
 public:
  struct Options {
    std::string version = "";
    int max_watchers = 64;
    Duration heartbeat = std::chrono::seconds(10);
  };
  /// All must outlive the service.
  struct Deps {
    const Clock& clock;
    const config::Store& config;
    events::Hub& hub;
    const DataPlane& data_plane;
    const Access& access;
    const EndpointRpcs& endpoints;
    ExchangeRpcs& exchanges;
    const UsageRpcs& usage;
    const LeakCheck& leaks;
    StreamDeps streams;  // of tails; watchers have a pump of their own
  };

  ObserverService(Options options, const Deps& deps);

  /// Closes the hub and ends all watchers with UNAVAILABLE, as soon as each has taken the events
  /// there are; new ones at once. Does not wait for them: the server's own shutdown does. Called
  /// exactly once.
  void Shutdown();

  grpc::ServerUnaryReactor* GetServerStatus(grpc::CallbackServerContext* context,
                                            const control::v1::GetServerStatusRequest* request,
                                            control::v1::ServerStatus* response) override;
  grpc::ServerWriteReactor<control::v1::WatchEventsResponse>* WatchEvents(
      grpc::CallbackServerContext* context,
      const control::v1::WatchEventsRequest* request) override;
  grpc::ServerUnaryReactor* ListEndpoints(grpc::CallbackServerContext* context,
                                          const control::v1::ListEndpointsRequest* request,
                                          control::v1::ListEndpointsResponse* response) override;
  grpc::ServerUnaryReactor* ListExchanges(grpc::CallbackServerContext* context,
                                          const control::v1::ListExchangesRequest* request,
                                          control::v1::ListExchangesResponse* response) override;
  grpc::ServerUnaryReactor* GetExchange(grpc::CallbackServerContext* context,
                                        const control::v1::GetExchangeRequest* request,
                                        control::v1::Exchange* response) override;
  grpc::ServerWriteReactor<control::v1::TailExchangeResponse>* TailExchange(
      grpc::CallbackServerContext* context,
      const control::v1::TailExchangeRequest* request) override;
  grpc::ServerUnaryReactor* GetUsage(grpc::CallbackServerContext* context,
                                     const control::v1::GetUsageRequest* request,
                                     control::v1::GetUsageResponse* response) override;
  grpc::ServerUnaryReactor* CheckLeaks(grpc::CallbackServerContext* context,
                                       const control::v1::CheckLeaksRequest* request,
                                       control::v1::CheckLeaksResponse* response) override;

 private:
  /// Ends the call with what `call` returns, if the caller is a viewer.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, absl::string_view rpc,
                                   absl::FunctionRef<grpc::Status()> call);

  const Options options_;
  const Deps deps_;
  const absl::Time start_time_;

  StreamPump watchers_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_OBSERVER_SERVICE_H_
