#ifndef SLUICE_LIB_HTTP_UPSTREAM_SOCKET_H_
#define SLUICE_LIB_HTTP_UPSTREAM_SOCKET_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/types/span.h"

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/http/tls_session.h"
#include "lib/runtime/socket.h"

struct iovec;

namespace sluice::http {

/// A connection to an upstream as a stream of bytes, plain or in TLS, on the running loop. Its
/// methods are those of runtime::Socket and cost a plain connection nothing more.
class UpstreamSocket {
 public:
  /// Takes `fd` as runtime::Socket does. `*open` counts it for as long as it exists.
  UpstreamSocket(int fd, std::atomic<size_t>* open) : socket_(fd), open_(*open) { ++open_; }
  ~UpstreamSocket() {
    tls_.reset();
    --open_;
  }

  /// For who connects it.
  runtime::Socket& transport() { return socket_; }
  /// Once connected: from now on it speaks through `tls`, whose handshake is done.
  void SpeakThrough(std::unique_ptr<TlsSession> tls) { tls_ = std::move(tls); }

  ssize_t Read(char* buffer, size_t size) {
    return tls_ == nullptr ? socket_.Read(buffer, size) : tls_->Read(buffer, size);
  }
  ssize_t Write(absl::Span<iovec> parts) {
    return tls_ == nullptr ? socket_.Write(parts) : tls_->Write(parts);
  }

  runtime::Wake WaitReadable(Instant deadline) {
    return holds_bytes() ? runtime::Wake::kReady : socket_.WaitReadable(deadline);
  }
  runtime::Wake WaitAny(Instant deadline) {
    return holds_bytes() ? runtime::Wake::kReady : socket_.WaitAny(deadline);
  }
  bool readable() const { return holds_bytes() || socket_.readable(); }
  bool hung_up() const { return socket_.hung_up(); }

  /// Of a connection between answers: nothing came for us, and no end. May read.
  bool IsSilent();
  /// After Read gave 0: the end is the upstream's own doing.
  bool ended_cleanly() const { return tls_ == nullptr || tls_->ended_cleanly(); }
  /// Right after Read gave -1 with another errno than EAGAIN: why.
  WaitResult failure() const;

 private:
  bool holds_bytes() const { return tls_ != nullptr && tls_->holds_bytes(); }

  runtime::Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  std::atomic<size_t>& open_;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_UPSTREAM_SOCKET_H_
