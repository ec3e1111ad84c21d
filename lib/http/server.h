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
  /// Another process may listen on the same port too (SO_REUSEPORT), to take over.
  bool reuse_port = false;
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

  // The steps to the end, in this order; each may be left out or repeated.

  /// From now on each head says that its answer is the last of the connection, and new connections
  /// go to the one that came to listen on the same port, if there is one.
  void AnnounceEnd();
  /// That, and closes connections that wait for a next request, or have just had an answer. New
  /// ones are still accepted, for the handler to refuse what they ask.
  void Drain();
  /// Takes in what has connected, and stops listening.
  void StopAccepting();
  /// That, and cancels what still runs, with `cause`, and closes connections that have not sent a
  /// whole request.
  void CancelAll(Cause cause);

  bool draining() const { return draining_.load(std::memory_order_relaxed); }
  size_t connections() const { return connections_.load(std::memory_order_relaxed); }
  /// Connections that a drain has to wait for: once it has begun, those on which a request was
  /// under way then.
  size_t undrained() const { return connections() - late_.load(std::memory_order_relaxed); }
  /// Listeners that accept: 1 from Listen to StopAccepting.
  size_t listeners() const { return listeners_.load(std::memory_order_relaxed); }

 private:
  struct LoopState;

  void Accept(int listener);
  void Place(int fd, std::string peer);
  /// Answers 503 without a fiber.
  void TurnAway(int fd, absl::string_view reason);
  /// Turns away the next client by way of the reserve when accept(2) found no descriptor for it.
  /// False when that failed too; leaves errno as it was.
  bool TurnAwayByReserve(int listener);
  void ServeConnection(LoopState& state, int fd, const std::string& peer);
  /// The handler's answer, or one that says it failed.
  std::unique_ptr<Answer> ServeOrExplain(ClientConnection::Incoming& incoming,
                                         const std::string& peer, Cancellation& cancellation);

  const ServerOptions options_;
  Handler& handler_;
  HttplibDispatch dispatch_;
  std::vector<std::unique_ptr<LoopState>> loop_states_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> draining_{false};
  std::atomic<size_t> connections_{0};
  std::atomic<size_t> late_{0};  // of these, not to be waited for
  std::atomic<size_t> listeners_{0};
  // On the first loop, which accepts.
  int listener_ = -1;  // while it does
  bool stopping_ = false;
  int reserve_fd_;  // held only to be given up where none is left
  Instant turned_away_logged_{};
  int port_ = 0;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_SERVER_H_
