#ifndef SLUICE_LIB_HTTP_SERVER_H_
#define SLUICE_LIB_HTTP_SERVER_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "lib/exchange/cause.h"
#include "lib/http/client_connection.h"
#include "lib/http/handler.h"
#include "lib/http/httplib_dispatch.h"
#include "lib/runtime/loop.h"

namespace sluice::http {

struct ServerOptions {
  ReadLimits read;
  size_t max_connections = 10000;
};

/// Serves HTTP/1.1 to clients: one fiber a connection, on the loop with the fewest. Everything
/// passed in must outlive it.
class Server {
 public:
  Server(const ServerOptions& options, Handler& handler,
         const std::vector<std::unique_ptr<runtime::Loop>>& loops);
  /// The loops have ended.
  ~Server();

  /// Binds `address` ("127.0.0.1:8080", "[::1]:0") and begins to accept. UNAVAILABLE: the system
  /// refused, and why. INVALID_ARGUMENT: not an address.
  absl::Status Listen(absl::string_view address);
  /// The port bound; to be read after Listen.
  int port() const { return port_; }

  // Thread-safe:

  /// Accepts nothing more, closes what waits for a next request, and lets each answer under way be
  /// the last of its connection.
  void Drain();
  /// Cancels what still runs, with `cause`, and closes connections that have not sent a whole
  /// request. After Drain.
  void CancelAll(Cause cause);

  bool draining() const { return draining_.load(std::memory_order_relaxed); }
  size_t connections() const { return connections_.load(std::memory_order_relaxed); }
  /// Listeners that accept: 1 from Listen to Drain.
  size_t listeners() const { return listeners_.load(std::memory_order_relaxed); }

 private:
  struct LoopState;

  void Accept(int listener);
  void Place(int fd, std::string peer);
  /// Answers 503 without a fiber: there are too many connections.
  void TurnAway(int fd);
  void ServeConnection(LoopState& state, int fd, const std::string& peer);

  const ServerOptions options_;
  Handler& handler_;
  HttplibDispatch dispatch_;
  std::vector<std::unique_ptr<LoopState>> loop_states_;
  std::atomic<bool> draining_{false};
  std::atomic<size_t> connections_{0};
  std::atomic<size_t> listeners_{0};
  Instant turned_away_logged_{};  // on the first loop
  int port_ = 0;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_SERVER_H_
