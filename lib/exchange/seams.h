#ifndef SLUICE_LIB_EXCHANGE_SEAMS_H_
#define SLUICE_LIB_EXCHANGE_SEAMS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/message.h"
#include "lib/exchange/upstream_address.h"

/// The seams between the relay core and the world: `lib/relay` uses them, `lib/http` puts sockets
/// behind them, tests put scripts. Everything here is confined to the exchange's fiber; calls that
/// wait suspend only it.
namespace sluice {

/// How a wait on the upstream ended.
struct WaitResult {
  enum Kind {
    kOk,         // what was waited for is there
    kEnd,        // the body ended, with its framing complete
    kDeadline,   // the deadline passed first; the call may be made again
    kCancelled,  // the exchange's Cancellation fired; its cause says why
    kFailed,     // the connection is of no more use; `failure` and `detail` say why
  };
  Kind kind = kOk;
  Cause failure =
      Cause::kInternal;     // of kFailed: kUpstreamReset, kTruncated, kUpstreamProtocol, ...
  std::string detail = {};  // of kFailed and kDeadline, for people
};

/// The request as it goes upstream, built once per exchange and sent to each endpoint in turn: the
/// target and headers are the same bytes for all, but for Host and the address's path prefix and
/// query, which the transport adds. Body framing is the transport's: always Content-Length.
struct OutboundRequest {
  std::string method;
  std::string target;
  HeaderList headers;      // end-to-end only; no Host, no Content-Length
  absl::string_view body;  // borrowed from the client's request
};

/// One attempt's connection. Destroying it closes the connection, which cancels the upstream's
/// work; only one whose answer was read to a clean kEnd goes back to the pool.
class UpstreamStream {
 public:
  virtual ~UpstreamStream() = default;

  /// Waits for the answer's head; interim (1xx) answers are skipped. Call until it is not
  /// kDeadline.
  virtual WaitResult ReadHead(Instant deadline, ResponseHead* head) = 0;

  /// Waits for body bytes: all that one read brought, transfer coding removed. `*piece` is valid
  /// until the next call on this stream, and is never empty with kOk. `*last` is set when the body
  /// is known to end with this piece (the next call gives kEnd at once).
  virtual WaitResult ReadBody(Instant deadline, absl::string_view* piece, bool* last) = 0;

  /// When the connection was there to be used (for one from the pool: when it was taken).
  virtual Instant connected_at() const = 0;
};

struct OpenResult {
  std::unique_ptr<UpstreamStream> stream;  // null: see `wait`
  WaitResult wait;  // kOk, kDeadline (not connected in time), kCancelled or kFailed
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// Connects to `address` by `deadline` and sends `request`. `request` stays as it is until
  /// ReadHead gave kOk or the stream is destroyed; then it is freed, however long the answer takes.
  /// `address` must outlive the stream.
  virtual OpenResult Open(const UpstreamAddress& address, const OutboundRequest& request,
                          Instant deadline) = 0;
};

/// One exchange's wait for what another one does.
class Parking {
 public:
  virtual ~Parking() = default;
  /// Suspends the exchange until Wake: kOk. At once if it was called since the last Park. Else
  /// kDeadline or kCancelled.
  virtual WaitResult::Kind Park(Instant deadline) = 0;
  /// Thread-safe; does not wait. The exchange may have ended.
  virtual void Wake() = 0;
};

/// Makes them, for the running exchange. Thread-safe.
class ParkingLot {
 public:
  virtual ~ParkingLot() = default;
  virtual std::shared_ptr<Parking> NewParking() = 0;
};

/// Work of an exchange that has waits of its own, beside the exchange's.
class Branch {
 public:
  /// Ends its waits, those to come too, as kCancelled; returns when the work has ended.
  virtual ~Branch() = default;
};

/// Begins them, for the running exchange. Thread-safe.
class Branches {
 public:
  virtual ~Branches() = default;
  /// `work` runs while the exchange waits, and must not throw. What it uses must outlive the
  /// branch. Null when there is no memory for it: `work` will not be called.
  virtual std::unique_ptr<Branch> Begin(std::function<void()> work) = 0;
};

/// Where an answer goes. Nothing is written before WriteHead.
class ClientSink {
 public:
  enum class Result { kOk, kGone, kStalled };
  virtual ~ClientSink() = default;

  /// Takes the head that goes on the wire: end-to-end headers, and Content-Length when the length
  /// is known. Connection headers and transfer coding are the sink's. The head leaves with the
  /// first body bytes, or at Flush, or at the end when there are none. Called once, before any
  /// Write.
  virtual void WriteHead(const ResponseHead& head) = 0;

  /// Hands a head that has not left to the client's socket: no body bytes are at hand to go with
  /// it. As Write otherwise.
  virtual Result Flush(Duration stall_limit) = 0;

  /// Hands `bytes` (never empty) to the client's socket before it returns. kGone: the client left.
  /// kStalled: it took nothing for `stall_limit`.
  virtual Result Write(absl::string_view bytes, Duration stall_limit) = 0;

  /// Runs `work`, which must not wait, where it costs this answer no stack of its own.
  virtual void RunOnSharedStack(absl::FunctionRef<void()> work) { work(); }

  /// Lets other answers that have something to do go first.
  virtual void LetOthersRun() {}

  /// What is passed comes in pieces so fast that it may wait a moment, for more of it to come at
  /// once.
  virtual void LetMoreCome() {}
};

/// One answer on its way to the client, whether an upstream gave it or the gateway made it.
class Answer {
 public:
  enum class Step {
    kMore,   // call Next again
    kEnd,    // the answer is complete: end the body as its framing says
    kAbort,  // close without ending the body: it broke where no error event can say so, or the
             // client is gone (then perhaps with no head written)
  };

  /// An answer dropped before kEnd or kAbort finishes its exchange, as the cancellation's cause
  /// says (client_gone when it has none).
  virtual ~Answer() = default;

  /// What follows the head: nothing (HEAD, 204, 304; one call of Next ends it), as much as its
  /// Content-Length says, or a body of open length.
  enum class Body { kNone, kSized, kOpen };
  virtual Body body() const = 0;

  /// Whether the connection must end with this answer: the gateway refused or failed the request.
  virtual bool ends_connection() const = 0;

  /// Moves the answer on by one piece: waits for it, writes it, then observes it. The first call
  /// commits.
  virtual Step Next(ClientSink& sink) = 0;
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_SEAMS_H_
