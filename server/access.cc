#include "server/access.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grpc/grpc_security_constants.h"
#include "lib/base/display_text.h"
#include "lib/base/status.h"
#include "server/rpc_error.h"

namespace sluice::server {
namespace {

using grpc::StatusCode;

constexpr size_t kMaxNameBytes = 128;
constexpr absl::string_view kScheme = "Bearer ";

absl::string_view View(grpc::string_ref text) { return {text.data(), text.size()}; }

grpc::Status Recognize(const Roles::Entry& entry, Caller* caller) {
  caller->name = entry.name;
  caller->role = entry.role;
  return grpc::Status::OK;
}

grpc::Status RecognizeToken(absl::string_view authorization, const Roles& roles, Caller* caller) {
  const Roles::Entry* entry = nullptr;
  if (absl::StartsWithIgnoreCase(authorization, kScheme)) {
    entry = roles.FindToken(authorization.substr(kScheme.size()));
  }
  if (entry != nullptr) return Recognize(*entry, caller);
  return RpcError(StatusCode::UNAUTHENTICATED, "TOKEN_UNKNOWN",
                  "the token is none that the server's roles file has");
}

/// Whom the certificate of the client is for: its common name first, then the other names it has.
std::vector<absl::string_view> CertificateNames(const grpc::AuthContext& auth) {
  std::vector<absl::string_view> names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : auth.FindPropertyValues(property)) {
      names.push_back(View(name));
    }
  }
  return names;
}

grpc::Status RecognizeCertificate(const std::vector<absl::string_view>& names, const Roles& roles,
                                  Caller* caller) {
  if (const Roles::Entry* entry = roles.FindCertificate(names)) return Recognize(*entry, caller);
  return RpcError(StatusCode::PERMISSION_DENIED, "CERTIFICATE_UNKNOWN",
                  absl::StrCat("the server's roles file has no line for the certificate of \"",
                               DisplayText(names.front(), kMaxNameBytes), "\""));
}

grpc::Status Recognize(const grpc::CallbackServerContext& context, const Roles& roles,
                       Caller* caller) {
  const auto [token, end] = context.client_metadata().equal_range("authorization");
  if (token != end && std::next(token) != end) {
    return RpcError(StatusCode::UNAUTHENTICATED, "TOKEN_UNKNOWN", "more than one token was sent");
  }
  if (token != end) return RecognizeToken(View(token->second), roles, caller);
  if (const auto auth = context.auth_context(); auth != nullptr && auth->IsPeerAuthenticated()) {
    if (const auto names = CertificateNames(*auth); !names.empty()) {
      return RecognizeCertificate(names, roles, caller);
    }
  }
  return RpcError(
      StatusCode::UNAUTHENTICATED, "TOKEN_MISSING",
      "the server must know who calls: send a token, as in `authorization: Bearer TOKEN`");
}

/// "operator", or "tailer or operator".
std::string AtLeast(Role needed) {
  std::string names;
  for (const Role role : kRoles) {
    if (role >= needed) absl::StrAppend(&names, names.empty() ? "" : " or ", RoleName(role));
  }
  return names;
}

}  // namespace

Access::Access(AuditLog& audit, const AccessOptions& options,
               std::unique_ptr<ControlCertificate> certificate, std::unique_ptr<RolesFile> roles)
    : audit_(audit),
      certificate_(std::move(certificate)),
      credentials_(MakeServerCredentials(certificate_.get(), options)),
      roles_(std::move(roles)) {}

absl::StatusOr<std::unique_ptr<Access>> Access::Open(const std::string& address,
                                                     const AccessOptions& options,
                                                     const Clock& clock, AuditLog& audit) {
  SLUICE_RETURN_IF_ERROR(CheckAccess(address, options));
  std::unique_ptr<ControlCertificate> certificate;
  if (!options.tls_cert.empty()) {
    SLUICE_ASSIGN_OR_RETURN(certificate, ControlCertificate::Open(options, clock));
  }
  std::unique_ptr<RolesFile> roles;
  if (!options.roles.empty()) {
    auto opened = RolesFile::Open(clock, options.roles);
    if (!opened.ok()) {
      return absl::UnauthenticatedError(
          absl::StrCat("--control_roles: ", opened.status().message()));
    }
    roles = *std::move(opened);
    if (options.client_ca.empty() && !roles->Current()->has_tokens()) {
      return absl::UnauthenticatedError(
          absl::StrCat("--control_roles: ", options.roles,
                       " has names for certificates only, and so needs --control_client_ca"));
    }
  }
  return std::unique_ptr<Access>(
      new Access(audit, options, std::move(certificate), std::move(roles)));
}

void Access::Reload() {
  if (certificate_ != nullptr) certificate_->Reload();
  if (roles_ != nullptr) roles_->Reload();
}

grpc::Status Access::Admit(const grpc::CallbackServerContext& context, absl::string_view rpc,
                           Role needed, Caller* caller) const {
  caller->peer = DisplayText(context.peer(), kMaxNameBytes);
  if (roles_ == nullptr) {
    caller->name = caller->peer;
    caller->role = Role::kOperator;
    return grpc::Status::OK;
  }
  grpc::Status status = Recognize(context, *roles_->Current(), caller);
  if (status.ok() && caller->role < needed) {
    status = RpcError(StatusCode::PERMISSION_DENIED, "ROLE_TOO_LOW",
                      absl::StrCat(caller->name, " is a ", RoleName(caller->role), ", and ", rpc,
                                   " needs the role ", AtLeast(needed)));
  }
  if (!status.ok()) audit_.WriteRefusal(*caller, rpc, status);
  return status;
}

}  // namespace sluice::server
