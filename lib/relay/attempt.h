#ifndef SLUICE_LIB_RELAY_ATTEMPT_H_
#define SLUICE_LIB_RELAY_ATTEMPT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/cancellation.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"
#include "lib/relay/body_watch.h"
#include "lib/relay/limit.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/tried.h"

namespace sluice::relay {

/// A body held back is at most this, and the piece that passed it. An event stream whose first
/// event is larger is committed then: so large an event is no error that another endpoint could
/// mend.
inline constexpr size_t kMaxHeldBytes = size_t{64} << 10;

/// An answer that is whole: one the gateway made, or an upstream's kept in case no better one
/// comes.
struct WholeAnswer {
  Cause cause = Cause::kInternal;  // why an exchange ends that is answered so
  bool ends_connection = false;    // a refusal or failure of the gateway's own
  ResponseHead head;
  std::string body;
};

/// One attempt that came to nothing. Nothing of it was written to the client.
struct AttemptFailure {
  Cause cause = Cause::kInternal;
  RetryClass retry = RetryClass::kNo;
  upstream::Spent spent = upstream::Spent::kEndpoint;  // whether or not it is retried
  int status = 0;                                      // the upstream's; 0: there was no answer
  std::string detail = {};                             // for the record: may name addresses
  std::string message = {};     // for the client: the upstream's own words, if any
  std::string error_type = {};  // of an error frame
  std::string error_code = {};
  std::optional<Duration> rest = {};       // for how long the endpoint asks to be left alone
  std::optional<WholeAnswer> answer = {};  // the upstream's own, if worth giving to the client
};

/// An answer worth committing, held at the point where that was clear.
struct HeldAnswer {
  std::unique_ptr<UpstreamStream> stream;
  ResponseHead head;  // as the upstream sent it
  bool has_body = true;
  BodyKind kind = BodyKind::kOpaque;
  std::string held;               // the body so far
  bool ended = false;             // and that is all of it
  std::optional<Cause> standing;  // an upstream's error that is relayed as it is
  std::optional<Duration> rest;   // for how long the endpoint asks to be left alone
  bool first_frame_seen = false;  // of an event stream; of another body, its first piece
  Limit first_frame;              // when the first valid frame must have come
};

using AttemptOutcome = std::variant<HeldAnswer, AttemptFailure>;

/// Whether a failure of class `retry` may be followed by another attempt (DESIGN ruling 5).
bool MayRetry(RetryClass retry, const config::Retry& policy);

/// What one attempt works with; all of it outlives the attempt.
struct AttemptContext {
  const Clock& clock;
  const Cancellation& cancellation;
  Transport& transport;
  const config::Pool& pool;
  const OutboundRequest& outbound;
  dialect::Dialect dialect;
  Limit hold_budget;            // over all attempts
  const upstream::KeyUse* key;  // null: the pool has none
  /// Whether a failure that rules out so much could be followed by another attempt.
  absl::FunctionRef<bool(upstream::Spent)> others_remain;
  Exchange& record;        // gets the bytes read
  size_t index;            // of this attempt in the record's
  UpstreamStamps& stamps;  // of this attempt
};

/// One try at the endpoint at `address`, which outlives the answer held: connects, sends, waits for
/// the head and holds the answer until it is worth committing. Dropping what it returns closes the
/// connection.
AttemptOutcome RunAttempt(const AttemptContext& context, const UpstreamAddress& address);

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_ATTEMPT_H_
