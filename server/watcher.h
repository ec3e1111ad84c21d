#ifndef SLUICE_SERVER_WATCHER_H_
#define SLUICE_SERVER_WATCHER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "lib/base/clock.h"
#include "lib/events/filter.h"
#include "lib/events/hub.h"
#include "server/pumped_stream.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"

namespace sluice::server {

/// What a watcher asked for, checked against the hub.
struct WatchPlan {
  uint64_t position = 0;       // read what comes after this sequence
  uint64_t last = UINT64_MAX;  // end after this sequence
  bool restarted = false;      // the token was of another run: say so first
  std::vector<events::Filter> filters;
};

/// INVALID_ARGUMENT: the request contradicts itself or has a value that means nothing here.
absl::StatusOr<WatchPlan> PlanWatch(const control::v1::WatchEventsRequest& request,
                                    const events::Hub& hub);

/// One WatchEvents call; the cursor on the hub is the queue behind its write.
class Watcher final : public PumpedStream<control::v1::WatchEventsResponse> {
 public:
  /// As in PumpedStream; `hub` must outlive it too.
  Watcher(grpc::CallbackServerContext* context, const StreamDeps& deps, const events::Hub& hub,
          Duration heartbeat, WatchPlan plan);

  /// Sends the events there are, then ends.
  void Conclude(const grpc::Status& status) override;

 private:
  Next Fill(Instant now, control::v1::WatchEventsResponse* response, grpc::Status* status) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Reads the hub until there is something to show, or no more to read.
  void ReadEvents(control::v1::WatchEventsResponse* response) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AtEnd() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return reader_.position() >= last_; }

  const Clock& clock_;
  const events::Hub& hub_;
  const Duration heartbeat_;
  const std::vector<events::Filter> filters_;

  uint64_t last_ ABSL_GUARDED_BY(mutex_);  // the last sequence to be sent
  grpc::Status status_after_last_ ABSL_GUARDED_BY(mutex_);
  events::Reader reader_ ABSL_GUARDED_BY(mutex_);
  bool tell_restart_ ABSL_GUARDED_BY(mutex_);
  bool more_ ABSL_GUARDED_BY(mutex_) = false;  // is to be read, behind the last response
  Instant heartbeat_due_ ABSL_GUARDED_BY(mutex_) =
      Instant::min();  // the first response goes at once
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_WATCHER_H_
