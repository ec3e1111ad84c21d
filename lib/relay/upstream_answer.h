#ifndef SLUICE_LIB_RELAY_UPSTREAM_ANSWER_H_
#define SLUICE_LIB_RELAY_UPSTREAM_ANSWER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/digest.h"
#include "lib/config/snapshot.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/seams.h"
#include "lib/relay/attempt.h"
#include "lib/relay/body_watch.h"
#include "lib/relay/frame_filter.h"
#include "lib/relay/limit.h"
#include "lib/relay/live_exchange.h"
#include "lib/relay/pool_attempts.h"
#include "lib/relay/proxy.h"
#include "lib/upstream/pair.h"

namespace sluice::relay {

/// An upstream's answer from the commit to the finish.
class UpstreamAnswer final : public Answer {
 public:
  UpstreamAnswer(std::unique_ptr<LiveExchange> exchange, dialect::Dialect dialect, Served served);
  ~UpstreamAnswer() override;

  Body body() const override { return body_; }
  bool ends_connection() const override { return false; }
  Step Next(ClientSink& sink) override;

 private:
  /// What is needed for the commit, and not kept for the length of a stream.
  struct Uncommitted {
    ResponseHead head;
    std::string held;
    bool ended = false;  // all of the body is held
  };

  Step Commit(Uncommitted answer, ClientSink& sink);
  Step Relay(ClientSink& sink);
  /// Writes what passes of `piece` and then observes it. False: the client is lost and the exchange
  /// finished.
  bool Pass(absl::string_view piece, ClientSink& sink);
  /// `gap`: between the last two pieces.
  void HoldBackIfFast(Duration gap, ClientSink& sink);
  /// Writes `bytes`, if any. False as above.
  bool Write(absl::string_view bytes, ClientSink& sink);
  /// Goes on after a write, or finishes.
  bool Survives(ClientSink::Result result);
  Step EndOfBody(ClientSink& sink);
  /// Whether its principal may have no more of it.
  bool MustStop() const { return !watch_.closed() && exchange_->OverAllowance(); }
  Step Stop(ClientSink& sink);
  Step Break(ClientSink& sink, Cause cause, absl::string_view detail);
  void CloseUpstream();
  /// Tells the endpoint and the key how it went, and gives them back.
  void ReturnPair(Cause cause);
  void Finish(Cause cause, absl::string_view detail = "");

  Limit SilenceLimit() const;

  const Body body_;
  // Destroyed in reverse: the connection, the lease and the slot go before the record is closed.
  const std::unique_ptr<LiveExchange> exchange_;
  const std::shared_ptr<const config::Snapshot> snapshot_;
  const config::Pool& pool_;
  std::optional<admission::Slot> slot_;  // in the pool
  upstream::Pair pair_;
  std::unique_ptr<UpstreamStream> stream_;
  std::unique_ptr<FrameFilter> filter_;  // null: all passes
  BodyWatch watch_;
  std::unique_ptr<Uncommitted> uncommitted_;
  Digest read_;                      // of what came
  std::unique_ptr<Digest> written_;  // of what left, once that may differ
  const Limit first_frame_;
  Instant last_passed_at_;  // when the last piece had been written
  bool fast_ = false;       // and so soon after the one before
  const std::optional<Cause> standing_;
  const std::optional<Duration> rest_;
  const dialect::Dialect dialect_;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_UPSTREAM_ANSWER_H_
