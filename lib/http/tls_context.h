#ifndef SLUICE_LIB_HTTP_TLS_CONTEXT_H_
#define SLUICE_LIB_HTTP_TLS_CONTEXT_H_

#include <memory>
#include <openssl/ssl.h>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "lib/base/mutex.h"
#include "lib/exchange/upstream_address.h"

namespace sluice::http {

/// An error of OpenSSL's queue (ERR_peek_error and the like), for people.
std::string TlsErrorText(unsigned long error);

/// TLS 1.2 and 1.3 as a client speaking HTTP/1.1: what all connections with the same TlsOptions
/// share, made of what their files held at the time, and the sessions that can be resumed.
/// Thread-safe.
class TlsContext {
 public:
  /// Reads the files, or the system's store: blocks. FAILED_PRECONDITION: which one cannot be used,
  /// and why.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Load(const TlsOptions& options);

  /// For a new connection, which resumes a session with the same peer if there is one. `peer`:
  /// whatever tells servers apart. It and this must outlive the connection.
  SSL* NewConnection(const std::string* peer);

 private:
  using Session = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;

  TlsContext();

  absl::Status Read(const TlsOptions& options);
  static int KeepSession(SSL* connection, SSL_SESSION* session);
  /// Null: there is none. A session of TLS 1.3 is given once only (RFC 8446 appendix C.4).
  Session TakeSession(const std::string& peer);

  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  Mutex mutex_;
  /// By peer, one for each.
  absl::flat_hash_map<std::string, Session> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_TLS_CONTEXT_H_
