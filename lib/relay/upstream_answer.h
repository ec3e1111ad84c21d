#ifndef SLUICE_LIB_RELAY_UPSTREAM_ANSWER_H_
#define SLUICE_LIB_RELAY_UPSTREAM_ANSWER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/config/snapshot.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/seams.h"
#include "lib/relay/attempt.h"
#include "lib/relay/body_watch.h"
#include "lib/relay/limit.h"
#include "lib/relay/live_exchange.h"
#include "lib/relay/proxy.h"
#include "lib/upstream/endpoint_table.h"

namespace sluice::relay {

/// An upstream's answer from the commit to the finish.
class UpstreamAnswer final : public Answer {
 public:
  /// `snapshot` is the configuration that `pool` and `lease` belong to.
  UpstreamAnswer(std::unique_ptr<LiveExchange> exchange,
                 std::shared_ptr<const config::Snapshot> snapshot, const config::Pool& pool,
                 upstream::Lease lease, dialect::Dialect dialect, HeldAnswer held);
  ~UpstreamAnswer() override;

  Body body() const override { return body_; }
  bool ends_connection() const override { return false; }
  Step Next(ClientSink& sink) override;

 private:
  Step Commit(ClientSink& sink);
  Step Relay(ClientSink& sink);
  /// Writes `piece` and then observes it. False: the client is lost and the exchange finished.
  bool Pass(absl::string_view piece, ClientSink& sink);
  Step EndOfBody(ClientSink& sink);
  Step Break(ClientSink& sink, Cause cause, absl::string_view detail);
  void Finish(Cause cause, absl::string_view detail = "");

  Limit SilenceLimit() const;

  const Body body_;
  // Destroyed in reverse: the connection and the lease go before the record is closed.
  const std::unique_ptr<LiveExchange> exchange_;
  const std::shared_ptr<const config::Snapshot> snapshot_;
  const config::Pool& pool_;
  upstream::Lease lease_;
  std::unique_ptr<UpstreamStream> stream_;
  BodyWatch watch_;
  ResponseHead head_;  // until the commit
  std::string held_;   // until the commit
  const Limit first_frame_;
  Instant last_passed_at_;  // when the last piece had been written
  const std::optional<Cause> standing_;
  const dialect::Dialect dialect_;
  const bool ended_;  // all of the body is held
  bool committed_ = false;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_UPSTREAM_ANSWER_H_
