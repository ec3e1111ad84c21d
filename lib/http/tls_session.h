#ifndef SLUICE_LIB_HTTP_TLS_SESSION_H_
#define SLUICE_LIB_HTTP_TLS_SESSION_H_

#include <cstddef>
#include <memory>
#include <openssl/ssl.h>
#include <string>
#include <sys/types.h>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/http/tls_context.h"
#include "lib/runtime/socket.h"

struct iovec;

namespace sluice::http {

/// TLS as a client over one connected socket, whose fiber is the only one to use it. What TLS says
/// to itself once the handshake is over (tickets, new keys) is neither bytes nor an end to who
/// reads.
class TlsSession {
 public:
  /// `peer`: see TlsContext. `socket` must outlive it.
  TlsSession(std::shared_ptr<TlsContext> context, std::string peer, runtime::Socket& socket);
  /// Says good-bye (close_notify), without waiting.
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// First of all. `server_name`: the name or address to ask for and to verify. Not kOk: kDeadline,
  /// kCancelled, or kFailed with kTlsFailed.
  WaitResult Handshake(absl::string_view server_name, Instant deadline);

  /// As those of runtime::Socket. Read gives all that has come, up to `size`, however small its
  /// records; Write takes one record's worth.
  ssize_t Read(char* buffer, size_t size);
  ssize_t Write(absl::Span<iovec> parts);

  /// Whether Read has something to say without the socket.
  bool holds_bytes() const { return holds_bytes_ || state_ != State::kOpen; }
  /// After Read gave 0: the peer said good-bye. If not, anybody may have cut the connection.
  bool ended_cleanly() const { return state_ == State::kEnded; }
  /// Why Read or Write gave -1 with another errno than EAGAIN.
  WaitResult failure() const;

 private:
  enum class State {
    kShaking,
    kOpen,
    kEnded,
    kCutOff,  // the connection ended without a good-bye
    kBroken,
  };

  static const BIO_METHOD* SocketMethod();
  static int ReadSocket(BIO* bio, char* buffer, int size);
  static int WriteSocket(BIO* bio, const char* bytes, int size);

  /// Whether the call that gave `result` may be made again once the socket is ready; else `state_`
  /// says what it is.
  bool MayGoOn(int result);
  /// False: it is neither name nor address.
  bool ExpectServer(const std::string& name);
  std::string HandshakeError(const std::string& server_name);

  const std::shared_ptr<TlsContext> context_;
  const std::string peer_;
  runtime::Socket& socket_;
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  State state_ = State::kShaking;
  bool socket_ended_ = false;
  int socket_error_ = 0;    // errno
  std::string tls_error_;   // of kBroken, unless it was the socket's
  bool any_bytes_ = false;  // have been read
  bool holds_bytes_ = false;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_TLS_SESSION_H_
