#ifndef SLUICE_SERVER_ACCESS_H_
#define SLUICE_SERVER_ACCESS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "server/audit.h"
#include "server/caller.h"
#include "server/control_certificate.h"
#include "server/control_credentials.h"
#include "server/roles.h"

namespace sluice::server {

/// Decides who may call. Without a roles file every caller is an operator, whose name is its
/// address. With one, a caller is who its token says (metadata `authorization: Bearer TOKEN`), or
/// without a token who its certificate says. Thread-safe.
class Access {
 public:
  /// For a server that listens on `address`. UNAUTHENTICATED: that would let strangers in, or a
  /// file cannot be used; the message is for whoever starts sluiced. `clock` and `audit` must
  /// outlive it.
  static absl::StatusOr<std::unique_ptr<Access>> Open(const std::string& address,
                                                      const AccessOptions& options,
                                                      const Clock& clock, AuditLog& audit);

  /// What the server must listen with.
  const std::shared_ptr<grpc::ServerCredentials>& credentials() const { return credentials_; }

  /// Reads the files of roles and TLS again now, and logs what has changed or cannot be used.
  void Reload();

  /// OK, and `caller` is set, when the caller of `rpc` has the role `needed` or a later one.
  /// UNAUTHENTICATED: it is nobody known; PERMISSION_DENIED: it may not do this. Refusals are
  /// audited.
  grpc::Status Admit(const grpc::CallbackServerContext& context, absl::string_view rpc, Role needed,
                     Caller* caller) const;

 private:
  Access(AuditLog& audit, const AccessOptions& options,
         std::unique_ptr<ControlCertificate> certificate, std::unique_ptr<RolesFile> roles);

  AuditLog& audit_;
  const std::unique_ptr<ControlCertificate> certificate_;  // null: no TLS
  const std::shared_ptr<grpc::ServerCredentials> credentials_;
  const std::unique_ptr<RolesFile> roles_;  // null: everybody is an operator
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_ACCESS_H_
