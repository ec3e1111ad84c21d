#ifndef SLUICE_SERVER_WATCHER_H_
#define SLUICE_SERVER_WATCHER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/events/filter.h"
#include "lib/events/hub.h"
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

/// One WatchEvents call. At most one write is in flight; the cursor on the hub is the queue behind
/// it. Thread-safe. gRPC calls are made without the mutex, since they may run reactions on the same
/// thread.
class Watcher final : public grpc::ServerWriteReactor<control::v1::WatchEventsResponse>,
                      public std::enable_shared_from_this<Watcher> {
 public:
  /// Hears of the watcher's end. Thread-safe.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The watcher took no response in time and is being ended.
    virtual void OnWatcherDropped() = 0;
    /// gRPC is done with it: the owner gives its reference up.
    virtual void OnWatcherDone(const Watcher* watcher) = 0;
  };
  struct Limits {
    Duration heartbeat;
    Duration write;
  };

  /// `context` is valid until gRPC is done with the call; the others must outlive the watcher.
  Watcher(grpc::CallbackServerContext* context, const Clock& clock, const events::Hub& hub,
          Owner& owner, Limits limits, WatchPlan plan);

  /// Sends what there is to send, unless a write is in flight; ends the watcher if that write has
  /// taken too long, or if it has had all it asked for.
  void Pump();

  /// Makes `sequence` the last event to be sent, and `status` the outcome of the call after it.
  void EndAfter(uint64_t sequence, const grpc::Status& status);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  /// Prepares response_; false: there is nothing to say now.
  bool FillResponse(Instant now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Reads the hub until there is something to show, or no more to read.
  void ReadEvents() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AtEnd() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return reader_.position() >= last_; }
  /// Ends the call as soon as nothing of it is in flight. The first status counts.
  void End(const grpc::Status& status);
  /// Gives up what kept Finish from being called, and calls it if it is due.
  void Release();

  grpc::CallbackServerContext* const context_;
  const Clock& clock_;
  Owner& owner_;
  const Limits limits_;
  const std::vector<events::Filter> filters_;

  Mutex mutex_;
  uint64_t last_ ABSL_GUARDED_BY(mutex_);  // the last sequence to be sent
  grpc::Status status_after_last_ ABSL_GUARDED_BY(mutex_);
  events::Reader reader_ ABSL_GUARDED_BY(mutex_);
  bool tell_restart_ ABSL_GUARDED_BY(mutex_);
  Instant heartbeat_due_ ABSL_GUARDED_BY(mutex_) =
      Instant::min();  // the first response goes at once
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  Instant write_due_ ABSL_GUARDED_BY(mutex_);
  int holds_ ABSL_GUARDED_BY(mutex_) = 0;  // a write, a cancellation under way: Finish must wait
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status end_status_ ABSL_GUARDED_BY(mutex_);
  control::v1::WatchEventsResponse response_;  // gRPC's while writing_, else guarded by mutex_
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_WATCHER_H_
