#ifndef SLUICE_SERVER_PUMPED_STREAM_H_
#define SLUICE_SERVER_PUMPED_STREAM_H_

#include <memory>
#include <utility>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/exchange/registry.h"
#include "server/stream_pump.h"

namespace sluice::server {

/// What the streams of the services have in common. All must outlive them.
struct StreamDeps {
  const Clock& clock;
  StreamPump& pump;
  ExchangeRegistry& registry;
  Duration write_limit;
};

/// One server-streaming call that a StreamPump feeds: its subclass says what to send when the
/// client has room. At most one write is in flight, and the next waits for the pump's turn, so that
/// what comes meanwhile goes in one response; a client that has not taken a response within
/// `write_limit` is ended with CANCELLED. Thread-safe. gRPC calls are made without the mutex, since
/// they may run reactions on the same thread.
template <typename ResponseType>
class PumpedStream : public grpc::ServerWriteReactor<ResponseType>, public PumpedCall {
 public:
  using Response = ResponseType;

  void Pump(Instant now) final {
    bool stalled = false;
    Next next = Next::kNothing;
    grpc::Status end;
    {
      MutexLock lock(&mutex_);
      if (ending_) return;
      if (writing_) {
        missed_turn_ = true;
        if (now < write_due_) return;
        stalled = ending_ = true;
        ++holds_;
      } else {
        response_.Clear();
        next = Fill(now, &response_, &end);
        if (next == Next::kWrite || next == Next::kWriteMore) {
          writing_ = true;
          missed_turn_ = next == Next::kWriteMore;
          ++holds_;
          write_due_ = DeadlineAfter(now, write_limit_);
        }
      }
    }
    if (stalled) {
      pump_.CountDropped();
      context_->TryCancel();  // makes the write fail
      Release();
    } else if (next == Next::kWrite || next == Next::kWriteMore) {
      this->StartWrite(&response_);
    } else if (next == Next::kEnd) {
      End(end);
    }
  }

  void Conclude(const grpc::Status& status) override { End(status); }

  void OnWriteDone(bool ok) final {
    const std::shared_ptr<PumpedCall> self = shared_from_this();  // Release may lead to OnDone
    bool at_once;
    {
      MutexLock lock(&mutex_);
      writing_ = false;
      if (!ok) ending_ = true;
      at_once = missed_turn_;
    }
    Release();
    if (at_once) Pump(clock_.Now());
  }

  void OnCancel() final { End(grpc::Status::CANCELLED); }

  void OnDone() final { pump_.Remove(this); }

 protected:
  /// kWriteMore: there is more than went into the response; it follows at once.
  enum class Next { kNothing, kWrite, kWriteMore, kEnd };

  /// `context` is valid until gRPC is done with the call.
  PumpedStream(grpc::CallbackServerContext* context, const StreamDeps& deps)
      : context_(context), clock_(deps.clock), pump_(deps.pump), write_limit_(deps.write_limit) {}

  Mutex mutex_;  // held by Fill

 private:
  /// Says what to do now: write `response`, which comes empty, or end with `status`. Calls come one
  /// at a time, none after an end.
  virtual Next Fill(Instant now, Response* response, grpc::Status* status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;

  /// Ends the call as soon as nothing of it is in flight. The first status counts.
  void End(const grpc::Status& status) {
    {
      MutexLock lock(&mutex_);
      if (ending_) return;
      ending_ = true;
      end_status_ = status;
      ++holds_;
    }
    Release();
  }

  /// Gives up what kept Finish from being called, and calls it if it is due.
  void Release() {
    grpc::Status status;
    {
      MutexLock lock(&mutex_);
      --holds_;
      if (holds_ > 0 || !ending_ || finished_) return;
      finished_ = true;
      status = end_status_;
    }
    this->Finish(status);
  }

  grpc::CallbackServerContext* const context_;
  const Clock& clock_;
  StreamPump& pump_;
  const Duration write_limit_;

  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool missed_turn_ ABSL_GUARDED_BY(mutex_) = false;  // of the pump, while writing_
  Instant write_due_ ABSL_GUARDED_BY(mutex_);
  int holds_ ABSL_GUARDED_BY(mutex_) = 0;  // a write, an end under way: Finish must wait
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status end_status_ ABSL_GUARDED_BY(mutex_) = grpc::Status::CANCELLED;
  Response response_;  // gRPC's while writing_, else guarded by mutex_
};

/// Ends a streaming call that never begins.
template <typename Response>
class RefusedStream final : public grpc::ServerWriteReactor<Response> {
 public:
  explicit RefusedStream(const grpc::Status& status) { this->Finish(status); }
  void OnDone() override { delete this; }
};

/// Serves a call with the stream that `make(&stream)` makes; with a refusal, when `make` refuses or
/// there are too many. `make` runs when there is room:
/// what it does to the world is not done for a call that is refused.
template <typename Stream, typename Make>
grpc::ServerWriteReactor<typename Stream::Response>* StartStream(const StreamDeps& deps,
                                                                 Make make) {
  std::shared_ptr<Stream> stream;
  grpc::Status status = deps.pump.Reserve();
  if (status.ok()) {
    status = make(&stream);
    if (!status.ok()) deps.pump.GiveBack();
  }
  if (!status.ok()) return new RefusedStream<typename Stream::Response>(status);
  deps.pump.Add(stream);
  return stream.get();
}

}  // namespace sluice::server

#endif  // SLUICE_SERVER_PUMPED_STREAM_H_
