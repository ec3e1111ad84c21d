#ifndef SLUICE_SERVER_CONTROL_CREDENTIALS_H_
#define SLUICE_SERVER_CONTROL_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/security/server_credentials.h"

namespace sluice::server {

/// How callers of the control API are told apart. Paths of files; "" is none.
struct AccessOptions {
  std::string tls_cert = "";   // PEM, the server's chain
  std::string tls_key = "";    // PEM, its key
  std::string client_ca = "";  // PEM; with it nobody connects without a certificate of one of these
  std::string roles = "";      // see Roles; without it every caller is an operator
};

/// UNAUTHENTICATED: a server with `options` at `address` would let in whoever reaches it from
/// another host, or would take tokens in clear from there; or the options are incomplete. The
/// message names the flags of sluiced.
absl::Status CheckAccess(const std::string& address, const AccessOptions& options);

class ControlCertificate;

/// For a server with `options`, which passed CheckAccess. `certificate` must outlive the server;
/// null: it speaks no TLS.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(ControlCertificate* certificate,
                                                               const AccessOptions& options);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONTROL_CREDENTIALS_H_
