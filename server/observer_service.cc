#include "server/observer_service.h"

#include <algorithm>
#include <pthread.h>
#include <utility>

#include "absl/strings/str_format.h"

#include "lib/base/ids.h"
#include "server/proto_time.h"
#include "server/tail_stream.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

// Gathers events into fewer responses, and bounds how often publishers wake the pump.
constexpr Duration kBatchInterval = std::chrono::milliseconds(2);
// How late heartbeats and ends of stalled watchers may be.
constexpr Duration kLongestTick = std::chrono::seconds(1);

/// Ends a call that never becomes a watcher.
class Refusal final : public grpc::ServerWriteReactor<pb::WatchEventsResponse> {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

grpc::Status ShuttingDown() {
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down");
}

}  // namespace

ObserverService::ObserverService(Options options, const Deps& deps)
    : options_(std::move(options)),
      deps_(deps),
      start_time_(deps.clock.WallNow()),
      pump_([this] { RunPump(); }) {}

void ObserverService::Shutdown() {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    MutexLock lock(&mutex_);
    closing_ = true;
    watchers = watchers_;
  }
  changed_.NotifyAll();
  deps_.hub.Close();
  pump_.join();
  const uint64_t last = deps_.hub.stats().published;
  for (const auto& watcher : watchers) watcher->EndAfter(last, ShuttingDown());
}

void ObserverService::RunPump() {
  pthread_setname_np(pthread_self(), "sluice-watch");
  const Duration tick = std::min({kLongestTick, options_.heartbeat / 4, options_.write_limit / 4});
  uint64_t seen = 0;
  while (true) {
    {
      MutexLock lock(&mutex_);
      changed_.Wait(&mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closing_ || !watchers_.empty();
      });
    }
    deps_.hub.WaitPast(seen, tick);
    seen = deps_.hub.stats().published;

    std::vector<std::shared_ptr<Watcher>> watchers;
    {
      MutexLock lock(&mutex_);
      watchers = watchers_;
    }
    for (const auto& watcher : watchers) watcher->Pump();

    MutexLock lock(&mutex_);
    if (changed_.WaitFor(&mutex_, kBatchInterval,
                         [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_; })) {
      return;
    }
  }
}

void ObserverService::OnWatcherDropped() {
  MutexLock lock(&mutex_);
  ++dropped_;
}

void ObserverService::OnWatcherDone(const Watcher* watcher) {
  std::shared_ptr<Watcher> last_reference;  // given up without the mutex
  MutexLock lock(&mutex_);
  const auto found = std::find_if(watchers_.begin(), watchers_.end(),
                                  [watcher](const auto& w) { return w.get() == watcher; });
  last_reference = std::move(*found);
  watchers_.erase(found);
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
    {
      MutexLock lock(&mutex_);
      response->set_watchers(static_cast<int32_t>(watchers_.size()));
      response->set_watchers_dropped(dropped_);
    }
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
  if (const grpc::Status admitted = deps_.access.Admit(*context, __func__, Role::kViewer, &caller);
      !admitted.ok()) {
    return new Refusal(admitted);
  }
  absl::StatusOr<WatchPlan> plan = PlanWatch(*request, deps_.hub);
  if (!plan.ok()) {
    return new Refusal(
        grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, std::string(plan.status().message())));
  }
  std::shared_ptr<Watcher> watcher;
  {
    MutexLock lock(&mutex_);
    if (closing_) return new Refusal(ShuttingDown());
    if (watchers_.size() >= static_cast<size_t>(options_.max_watchers)) {
      return new Refusal(
          grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                       absl::StrFormat("%d watchers are served already, which is the limit",
                                       options_.max_watchers)));
    }
    watcher = std::make_shared<Watcher>(
        context, deps_.clock, deps_.hub, static_cast<Watcher::Owner&>(*this),
        Watcher::Limits{options_.heartbeat, options_.write_limit}, *std::move(plan));
    watchers_.push_back(watcher);
  }
  changed_.NotifyAll();
  watcher->Pump();
  return watcher.get();
}

}  // namespace sluice::server
