#ifndef SLUICE_LIB_HTTP_CLIENT_CONNECTION_H_
#define SLUICE_LIB_HTTP_CLIENT_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <sys/uio.h>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "lib/base/clock.h"
#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"
#include "lib/http/request_parser.h"
#include "lib/runtime/socket.h"

namespace sluice::http {

/// How long a client may take to send.
struct ReadLimits {
  Duration head = std::chrono::seconds(10);   // a whole head, from its first byte (or the accept)
  Duration body = std::chrono::seconds(300);  // a whole body
  Duration body_grace =
      std::chrono::seconds(10);  // then at least `body_bytes_per_second` on average
  size_t body_bytes_per_second = 1024;
  Duration keep_alive = std::chrono::seconds(75);  // between two requests
};

/// One client's connection: reads its requests, writes bytes to it. Confined to the fiber that
/// serves it.
class ClientConnection {
 public:
  /// Takes `fd`, a connected non-blocking socket. `peer` is its address for the record.
  ClientConnection(int fd, std::string peer, const ReadLimits& limits);

  /// What ReadRequest found.
  struct Incoming {
    enum Kind { kRequest, kRefused, kClosed } kind = kClosed;
    Request request;          // of kRequest
    bool keep_alive = false;  // the client would send another
    Refusal refusal;          // of kRefused: answer it and close
    Instant accepted;         // when the head was there (kRequest), or found bad (kRefused)
  };

  /// The accept phase: waits for one whole request. Answers `Expect: 100-continue` itself. kClosed:
  /// the client left, sent nothing for too long, or an interrupt ended the wait between two
  /// requests.
  Incoming ReadRequest(const RequestParser::Limits& limits);

  /// Writes all of `parts`, which it may alter, unless the client leaves, takes nothing for
  /// `stall_limit`, or an interrupt comes while it waits (kGone).
  ClientSink::Result Write(absl::Span<iovec> parts, Duration stall_limit);

  /// Ends our side and reads what the client still sends, for a moment: a close with unread bytes
  /// would reset the connection and take the answer with it (RFC 9112 section 9.6).
  void LingerAndClose();

  /// Makes the close that comes a reset, so that nobody takes the end for the end of an answer.
  void ResetOnClose();

  /// Whether it waits for the first byte of a request: to end it now loses nothing.
  bool idle() const { return idle_ && !socket_.readable(); }
  /// Whether not a byte has come yet: the client that connected is about to send its first request.
  bool fresh() const { return first_request_; }
  runtime::Socket& socket() { return socket_; }
  const std::string& peer() const { return peer_; }

 private:
  enum class ReadResult { kBytes, kEnd, kDeadline, kInterrupted };
  /// Appends what one read brings to `unparsed_`.
  ReadResult ReadMore(Instant deadline);
  Instant BodyDeadline(Instant body_start, size_t body_bytes) const;

  runtime::Socket socket_;
  const std::string peer_;
  const ReadLimits& limits_;
  std::string unparsed_;  // read, but not taken by a parser
  bool first_request_ = true;
  bool idle_ = false;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_CLIENT_CONNECTION_H_
