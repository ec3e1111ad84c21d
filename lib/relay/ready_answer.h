#ifndef SLUICE_LIB_RELAY_READY_ANSWER_H_
#define SLUICE_LIB_RELAY_READY_ANSWER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/cause.h"
#include "lib/relay/attempt.h"
#include "lib/relay/live_exchange.h"
#include "lib/relay/proxy.h"

namespace sluice::relay {

/// An answer that is whole before it is committed: one the gateway made, or an upstream's kept one.
class ReadyAnswer final : public Answer {
 public:
  /// `detail` is for the record, beside the answer's cause.
  ReadyAnswer(std::unique_ptr<LiveExchange> exchange, WholeAnswer answer, absl::string_view detail,
              Duration stall_limit);

  Body body() const override { return body_; }
  bool ends_connection() const override { return answer_.ends_connection; }
  Step Next(ClientSink& sink) override;

 private:
  const std::unique_ptr<LiveExchange> exchange_;
  WholeAnswer answer_;
  const std::string detail_;
  const Duration stall_limit_;
  const Body body_;
};

/// Nothing, for a client that is gone. Its exchange has finished.
class NoAnswer final : public Answer {
 public:
  Body body() const override { return Body::kNone; }
  bool ends_connection() const override { return true; }
  Step Next(ClientSink&) override { return Step::kAbort; }
};

/// The gateway's own error: status from the table of causes, a JSON body in the shape of `dialect`.
/// With no `message`, the table's.
WholeAnswer ErrorAnswer(dialect::Dialect dialect, Cause cause, absl::string_view message);

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_READY_ANSWER_H_
