#include "server/observer_service.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_format.h"

#include "lib/base/ids.h"
#include "server/proto_time.h"
#include "server/tail_stream.h"
#include "server/watcher.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

// Gathers events into fewer responses, and bounds how often publishers wake the pump: a response
// costs about as much as a hundred events in it.
constexpr Duration kBatchInterval = std::chrono::milliseconds(10);
// How late heartbeats and ends of stalled watchers may be.
constexpr Duration kLongestTick = std::chrono::seconds(1);

/// Waits until the hub has news, or at most for `tick`.
std::function<void()> AwaitNewsOf(events::Hub& hub, Duration tick) {
  return [&hub, tick, seen = uint64_t{0}]() mutable {
    hub.WaitPast(seen, tick);
    seen = hub.stats().published;
  };
}

}  // namespace

ObserverService::ObserverService(Options options, const Deps& deps)
    : options_(std::move(options)),
      deps_(deps),
      start_time_(deps.clock.WallNow()),
      watchers_(deps.clock,
                {.calls = "watchers",
                 .max_calls = static_cast<size_t>(options_.max_watchers),
                 .interval = kBatchInterval,
                 .await_news = AwaitNewsOf(deps.hub, std::min({kLongestTick, options_.heartbeat / 4,
                                                               deps.streams.write_limit / 4}))}) {}

void ObserverService::Shutdown() {
  deps_.hub.Close();
  watchers_.Shutdown();
}

grpc::ServerUnaryReactor* ObserverService::GetServerStatus(grpc::CallbackServerContext* context,
                                                           const pb::GetServerStatusRequest*,
                                                           pb::ServerStatus* response) {
  return Answer(context, __func__, [&] {
    response->set_version(options_.version);
    *response->mutable_start_time() = ToProto(start_time_);
    response->set_boot_id(absl::StrFormat("%016x", BootEpoch()));
    response->set_in_flight(deps_.data_plane.in_flight());
    response->set_accepted(deps_.data_plane.accepted());
    response->set_draining(deps_.data_plane.draining());
    const events::Hub::Stats ring = deps_.hub.stats();
    response->mutable_ring()->set_capacity(static_cast<int64_t>(ring.capacity));
    response->mutable_ring()->set_size(static_cast<int64_t>(ring.size));
    response->mutable_ring()->set_published(static_cast<int64_t>(ring.published));
    const auto snapshot = deps_.config.Current();
    response->set_config_etag(snapshot->etag());
    response->set_config_generation(static_cast<int64_t>(snapshot->generation()));
    response->set_watchers(static_cast<int32_t>(watchers_.calls()));
    response->set_watchers_dropped(watchers_.dropped());
    return grpc::Status::OK;
  });
}

grpc::ServerUnaryReactor* ObserverService::ListEndpoints(grpc::CallbackServerContext* context,
                                                         const pb::ListEndpointsRequest* request,
                                                         pb::ListEndpointsResponse* response) {
  return Answer(context, __func__, [&] { return deps_.endpoints.List(*request, response); });
}

grpc::ServerUnaryReactor* ObserverService::ListExchanges(grpc::CallbackServerContext* context,
                                                         const pb::ListExchangesRequest* request,
                                                         pb::ListExchangesResponse* response) {
  return Answer(context, __func__, [&] { return deps_.exchanges.List(*request, response); });
}

grpc::ServerUnaryReactor* ObserverService::GetExchange(grpc::CallbackServerContext* context,
                                                       const pb::GetExchangeRequest* request,
                                                       pb::Exchange* response) {
  return Answer(context, __func__, [&] { return deps_.exchanges.Get(*request, response); });
}

grpc::ServerUnaryReactor* ObserverService::GetUsage(grpc::CallbackServerContext* context,
                                                    const pb::GetUsageRequest* request,
                                                    pb::GetUsageResponse* response) {
  return Answer(context, __func__, [&] { return deps_.usage.Get(*request, response); });
}

grpc::ServerUnaryReactor* ObserverService::CheckLeaks(grpc::CallbackServerContext* context,
                                                      const pb::CheckLeaksRequest*,
                                                      pb::CheckLeaksResponse* response) {
  return Answer(context, __func__, [&] {
    deps_.leaks.Read(response);
    return grpc::Status::OK;
  });
}

grpc::ServerWriteReactor<pb::TailExchangeResponse>* ObserverService::TailExchange(
    grpc::CallbackServerContext* context, const pb::TailExchangeRequest* request) {
  Caller caller;
  const grpc::Status admitted = deps_.access.Admit(*context, __func__, Role::kTailer, &caller);
  if (!admitted.ok()) return new RefusedStream<pb::TailExchangeResponse>(admitted);
  return StartStream<TailStream>(deps_.streams, [&](std::shared_ptr<TailStream>* stream) {
    ExchangeView view;
    std::shared_ptr<Tap> tap;
    if (grpc::Status status = deps_.exchanges.Tail(caller, *request, &view, &tap); !status.ok()) {
      return status;
    }
    *stream = std::make_shared<TailStream>(context, deps_.streams, view, std::move(tap));
    return grpc::Status::OK;
  });
}

grpc::ServerUnaryReactor* ObserverService::Answer(grpc::CallbackServerContext* context,
                                                  absl::string_view rpc,
                                                  absl::FunctionRef<grpc::Status()> call) {
  Caller caller;
  grpc::Status status = deps_.access.Admit(*context, rpc, Role::kViewer, &caller);
  if (status.ok()) status = call();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerWriteReactor<pb::WatchEventsResponse>* ObserverService::WatchEvents(
    grpc::CallbackServerContext* context, const pb::WatchEventsRequest* request) {
  Caller caller;
  const grpc::Status admitted = deps_.access.Admit(*context, __func__, Role::kViewer, &caller);
  if (!admitted.ok()) return new RefusedStream<pb::WatchEventsResponse>(admitted);
  absl::StatusOr<WatchPlan> plan = PlanWatch(*request, deps_.hub);
  if (!plan.ok()) {
    return new RefusedStream<pb::WatchEventsResponse>(
        grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, std::string(plan.status().message())));
  }
  const StreamDeps watch = {deps_.clock, watchers_, deps_.streams.registry,
                            deps_.streams.write_limit};
  return StartStream<Watcher>(watch, [&](std::shared_ptr<Watcher>* stream) {
    *stream =
        std::make_shared<Watcher>(context, watch, deps_.hub, options_.heartbeat, *std::move(plan));
    return grpc::Status::OK;
  });
}

}  // namespace sluice::server
