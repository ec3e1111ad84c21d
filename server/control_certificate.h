#ifndef SLUICE_SERVER_CONTROL_CERTIFICATE_H_
#define SLUICE_SERVER_CONTROL_CERTIFICATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grpc/grpc_security.h"
#include "lib/base/access_file.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "server/control_credentials.h"

namespace sluice::server {

/// The files of the control port's TLS in use: certificate, key, authorities of clients. Renewed
/// ones hold for connections that begin a second later. When they cannot be used, which is logged,
/// those before stay in use: gRPC's own watcher of such files would have no certificate then, and
/// break off each handshake. Thread-safe.
class ControlCertificate {
 public:
  /// UNAUTHENTICATED: a file cannot be used; the message names it and its flag. `clock` must
  /// outlive it.
  static absl::StatusOr<std::unique_ptr<ControlCertificate>> Open(const AccessOptions& options,
                                                                  const Clock& clock);

  /// Reads the files now, whether they seem to have changed or not.
  void Reload();

  /// For gRPC, when a connection begins: what it is to use from now on, or that it knows that
  /// already.
  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config** config);

 private:
  struct Texts {
    std::string certificate;
    std::string key;
    std::string client_ca;
    bool operator==(const Texts&) const = default;
  };

  ControlCertificate(const AccessOptions& options, const Clock& clock);
  bool HaveChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoadAndTell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AccessOptions options_;
  const Clock& clock_;
  Mutex mutex_;
  std::vector<AccessFile> files_ ABSL_GUARDED_BY(mutex_);
  Instant next_look_ ABSL_GUARDED_BY(mutex_);
  Texts texts_ ABSL_GUARDED_BY(mutex_);
  bool fetched_ ABSL_GUARDED_BY(mutex_) = false;  // `texts_`, by gRPC
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONTROL_CERTIFICATE_H_
