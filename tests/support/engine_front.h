#ifndef SLUICE_TESTS_SUPPORT_ENGINE_FRONT_H_
#define SLUICE_TESTS_SUPPORT_ENGINE_FRONT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <openssl/ssl.h>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"
#include "tests/support/patience.h"
#include "tests/support/test_authority.h"

namespace sluice::testing {

/// Puts another face on an engine that listens on 127.0.0.1: TLS, a Unix socket, IPv6. Passes the
/// bytes of each connection on, both ways, on a thread of its own. Thread-safe.
class EngineFront {
 public:
  struct Options {
    uint16_t engine_port = 0;
    /// Where to listen: "127.0.0.1", "::1", or the absolute path of a Unix socket.
    std::string at = "127.0.0.1";
    /// With a certificate it speaks TLS.
    TestAuthority::Issued identity = {};
    /// PEM. Not empty: clients must show a certificate that it issued.
    std::string client_authority = "";
    /// What one TLS record to the client holds at most.
    size_t record_bytes = 16384;
    /// When the engine closes: closes too, without a good-bye.
    bool cuts_off = false;
    int version = TLS1_3_VERSION;
    std::string protocol = "http/1.1";  // the one it agrees to speak (ALPN)
  };

  explicit EngineFront(Options options);
  /// Closes everything.
  ~EngineFront();

  /// Whether it listens.
  bool ok() const { return listener_ >= 0; }
  uint16_t port() const { return port_; }

  /// What handshakes brought so far, in order.
  struct Handshake {
    std::string server_name;  // asked for (SNI)
    std::string protocol;     // agreed (ALPN)
    std::string client;       // common name of the certificate shown
    bool resumed = false;
  };
  std::vector<Handshake> handshakes() const;
  size_t connections() const { return connections_; }
  /// Waits until clients got `bytes` bytes of content in all, in their sockets.
  bool WaitUntilDelivered(size_t bytes);

  /// On each open connection sends a ticket and new keys, and returns when they are delivered.
  bool SendTickets();
  /// Sends one stray byte of content, likewise.
  bool SendStray();

 private:
  struct Connection;

  bool Listen();
  SSL_CTX* MakeContext() const;
  void Accept();
  void Serve(Connection* connection);
  /// Both return whether to go on.
  bool ShakeHands(Connection* connection);
  bool Obey(Connection* connection);
  bool Send(Connection* connection, const char* bytes, size_t size);
  /// Waits until that holds for each open connection and its client got all that was sent.
  bool WaitForAll(const std::function<bool(const Connection&)>& holds);

  const Options options_;
  int listener_ = -1;
  uint16_t port_ = 0;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> connections_{0};
  std::atomic<size_t> bytes_sent_{0};
  std::atomic<int> ticket_orders_{0};
  std::atomic<int> stray_orders_{0};
  mutable Mutex mutex_;
  std::vector<Handshake> handshakes_ ABSL_GUARDED_BY(mutex_);
  std::list<Connection> served_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_ENGINE_FRONT_H_
