#ifndef SLUICE_SERVER_DRAIN_STREAM_H_
#define SLUICE_SERVER_DRAIN_STREAM_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/exchange/registry.h"
#include "server/pumped_stream.h"
#include "sluice/control/v1/control_service.pb.h"

namespace sluice::server {

/// How a drain ended, or the watch over it.
struct DrainEnd {
  /// "OK": nobody remains; "DEADLINE_EXCEEDED": somebody does, and the time is over; "ABORTED": it
  /// was taken back; "CANCELLED": the caller has left, or the server ended.
  absl::string_view outcome;
  int64_t remaining = 0;
  int64_t cancelled = 0;
};

/// What a drain waits for, and what it does at the end of its time.
struct DrainPlan {
  // All are cheap and thread-safe:
  /// Whether the drain has not been taken back.
  std::function<bool()> goes_on;
  /// How many remain.
  std::function<int64_t()> remaining;
  /// Whether a running exchange is one of them.
  std::function<bool(const ExchangeView&)> concerns;
  /// Runs once, and may not wait.
  std::function<void(const DrainEnd&)> on_end;
  Instant deadline;
  bool cancel = false;  // those that remain at the deadline
  std::string detail;   // for the records of those: who and why
};

/// One DrainEndpoint or DrainServer call: tells who remains until nobody does or the time is over.
/// The drain itself does not depend on it.
class DrainStream final : public PumpedStream<control::v1::DrainProgress> {
 public:
  /// As in PumpedStream.
  DrainStream(grpc::CallbackServerContext* context, const StreamDeps& deps, DrainPlan plan);
  ~DrainStream() override;

 private:
  Next Fill(Instant now, control::v1::DrainProgress* response, grpc::Status* status) override;
  /// Those concerned, the oldest first.
  std::vector<ExchangeView> Remaining() const;
  void CancelRemaining(Instant now);
  void NoteEnd(absl::string_view outcome);

  const Clock& clock_;
  ExchangeRegistry& registry_;
  const DrainPlan plan_;
  int64_t told_remaining_ = -1;
  Instant told_at_{};
  int64_t cancelled_ = 0;
  bool done_ = false;
  bool end_noted_ = false;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_DRAIN_STREAM_H_
