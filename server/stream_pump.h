#ifndef SLUICE_SERVER_STREAM_PUMP_H_
#define SLUICE_SERVER_STREAM_PUMP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace sluice::server {

/// A streaming call as its pump sees it. Thread-safe.
class PumpedCall : public std::enable_shared_from_this<PumpedCall> {
 public:
  virtual ~PumpedCall() = default;
  /// Sends what there is to send, unless a write is in flight.
  virtual void Pump(Instant now) = 0;
  /// Nothing new is to come: ends the call with `status`, once it has sent what it still has.
  virtual void Conclude(const grpc::Status& status) = 0;
};

/// One thread that gives streaming calls their turns, so that nobody who has news ever has to wait
/// for a client. Owns the calls. Thread-safe.
class StreamPump {
 public:
  struct Options {
    std::string calls;  // what they are, in the plural: "watchers"; at most 8 bytes
    size_t max_calls;
    Duration interval;  // at least, between two turns of a call
    /// Waits between two turns until there may be news; empty: no longer than `interval`. It must
    /// return at once when Shutdown was called.
    std::function<void()> await_news;
  };
  /// `clock` must outlive it.
  StreamPump(const Clock& clock, Options options);
  /// After Shutdown, and when gRPC is done with all calls.
  ~StreamPump();

  /// Keeps room for a call: one Add or GiveBack follows. RESOURCE_EXHAUSTED, UNAVAILABLE: no more
  /// are served.
  grpc::Status Reserve();
  void GiveBack();
  /// Takes `call` in, in the room reserved for it, and gives it its first turn.
  void Add(std::shared_ptr<PumpedCall> call);
  /// gRPC is done with `call`.
  void Remove(const PumpedCall* call);

  /// One of the calls takes no response in time and is being ended.
  void CountDropped();

  /// Concludes all calls with UNAVAILABLE, and refuses new ones. Called once.
  void Shutdown();

  size_t calls() const;
  int64_t dropped() const;

 private:
  void Run();

  const Clock& clock_;
  const Options options_;
  mutable Mutex mutex_;  // no other lock is taken while it is held
  CondVar changed_;
  std::vector<std::shared_ptr<PumpedCall>> calls_ ABSL_GUARDED_BY(mutex_);
  size_t reserved_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_STREAM_PUMP_H_
