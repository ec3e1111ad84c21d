#ifndef SLUICE_LIB_HTTP_UPSTREAM_DIALER_H_
#define SLUICE_LIB_HTTP_UPSTREAM_DIALER_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/exchange/upstream_address.h"
#include "lib/http/resolver.h"
#include "lib/http/tls_contexts.h"
#include "lib/http/upstream_socket.h"
#include "lib/runtime/blocking.h"

namespace sluice::http {

/// Makes connections to upstreams, from the fibers of any loop. Outlives them.
class UpstreamDialer {
 public:
  /// A name's next address is tried when one was silent for so long, and the one before is not
  /// given up (RFC 8305 section 5).
  static constexpr Duration kNextAddressAfter = std::chrono::milliseconds(250);

  /// `threads`: for name look-ups and files; must outlive it.
  explicit UpstreamDialer(runtime::BlockingPool& threads) : threads_(threads), contexts_(threads) {}

  /// Finds `address`, connects to it, and shakes hands if it speaks TLS. Not kOk: kDeadline,
  /// kCancelled, or kFailed with kDnsFailed, kConnectFailed or kTlsFailed.
  WaitResult Dial(const UpstreamAddress& address, Instant deadline,
                  std::unique_ptr<UpstreamSocket>* socket);

  /// The middle part of Dial: to the first of `addresses` that takes a connection. kFailed: with
  /// kConnectFailed, and the reason of the last.
  WaitResult Connect(const std::vector<SocketAddress>& addresses, Instant deadline,
                     std::unique_ptr<UpstreamSocket>* socket);

  /// Reads the files of TLS again now. Blocks. Thread-safe.
  void ReloadTls() { contexts_.Reload(); }

  /// Connections that exist, those being made too. Thread-safe.
  size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  /// 0: connected. EINPROGRESS: `*socket` is being connected.
  int Begin(const SocketAddress& address, std::unique_ptr<UpstreamSocket>* socket);
  WaitResult StartTls(const UpstreamAddress& address, Instant deadline, UpstreamSocket* socket);

  runtime::BlockingPool& threads_;
  TlsContexts contexts_;
  std::atomic<size_t> open_{0};
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_UPSTREAM_DIALER_H_
