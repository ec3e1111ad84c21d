#ifndef SLUICE_LIB_HTTP_HTTPLIB_DISPATCH_H_
#define SLUICE_LIB_HTTP_HTTPLIB_DISPATCH_H_

#include <functional>
#include <memory>

#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"
#include "lib/http/client_connection.h"

namespace sluice::http {

/// Drives answers through cpp-httplib's server: its request processing, its content providers, its
/// chunked coding. It never sees a peer's bytes: it reads a canonical request that we wrote, and
/// the head it writes gives way to the one the answer prepared. Thread-safe; one object serves all
/// loops.
///
/// A subclass of `httplib::Server` calls the protected `process_request` (0.11.4 and later). The
/// accept loop is ours (lib/http/server.h) and not httplib's: its own returns on a passing accept
/// error, closes the listener, and thereby ends every chunked stream in the process.
class HttplibDispatch {
 public:
  HttplibDispatch();
  ~HttplibDispatch();

  struct Framing {
    bool head_request = false;  // no body whatever the head says
    int minor_version = 1;  // of the request; 0: a body without a length ends with the connection
    /// Whether the connection is to carry another request; asked when the head is written.
    std::function<bool()> keep_alive;
  };

  /// How an answer left its connection.
  enum class Outcome {
    kReusable,  // it may carry another request
    kEnded,     // it has to be closed
    kCutOff,    // it has to be reset: the answer broke off, and its body ends where the connection
                // does
  };

  /// Runs `serve` as httplib's handler and writes the answer it returns to `connection`, to its
  /// end. Nothing is written if it throws.
  Outcome Run(ClientConnection& connection, const Framing& framing,
              const std::function<std::unique_ptr<Answer>()>& serve);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_HTTPLIB_DISPATCH_H_
