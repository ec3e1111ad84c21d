#include "server/control_credentials.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "absl/strings/str_cat.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"

#include "lib/base/local_address.h"
#include "lib/base/status.h"

namespace sluice::server {
namespace {

constexpr unsigned kRefreshSeconds = 30;

/// With what OpenSSL says about it.
absl::Status Unusable(absl::string_view flag, const std::string& path) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return absl::UnauthenticatedError(
      absl::StrCat(flag, ": ", path, " cannot be used: ", reason == nullptr ? "unknown" : reason));
}

/// What gRPC would only find out when the first client connects.
absl::Status CheckFiles(const AccessOptions& options) {
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                             &SSL_CTX_free);
  if (context == nullptr) return absl::UnauthenticatedError("OpenSSL cannot be used");
  if (SSL_CTX_use_certificate_chain_file(context.get(), options.tls_cert.c_str()) != 1) {
    return Unusable("--control_tls_cert", options.tls_cert);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), options.tls_key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Unusable("--control_tls_key", options.tls_key);
  }
  if (!options.client_ca.empty() &&
      SSL_CTX_load_verify_locations(context.get(), options.client_ca.c_str(), nullptr) != 1) {
    return Unusable("--control_client_ca", options.client_ca);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAccess(const std::string& address, const AccessOptions& options) {
  const bool tls = !options.tls_cert.empty();
  if (tls != !options.tls_key.empty()) {
    return absl::UnauthenticatedError(
        "--control_tls_cert and --control_tls_key go together: give both or none");
  }
  if (!tls && !options.client_ca.empty()) {
    return absl::UnauthenticatedError(
        "--control_client_ca needs TLS: give --control_tls_cert and --control_tls_key too");
  }
  if (options.roles.empty() && tls) {
    return absl::UnauthenticatedError(
        "TLS alone tells nobody apart: give --control_roles, the file that says who may do what");
  }
  if (tls || IsLocalAddress(address)) return absl::OkStatus();
  return absl::UnauthenticatedError(absl::StrCat(
      "--control ", address,
      " can be reached from other hosts, and whoever reaches it could redirect all traffic. Either "
      "listen on a loopback address, as in 127.0.0.1:9090 or [::1]:9090 (a name like localhost "
      "does "
      "not count), or on unix:PATH; or give --control_tls_cert, --control_tls_key and "
      "--control_roles, and --control_client_ca for client certificates"));
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const AccessOptions& options) {
  if (options.tls_cert.empty()) return grpc::InsecureServerCredentials();
  SLUICE_RETURN_IF_ERROR(CheckFiles(options));
  grpc::experimental::TlsServerCredentialsOptions tls(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          options.tls_key, options.tls_cert, options.client_ca, kRefreshSeconds));
  tls.watch_identity_key_cert_pairs();
  if (!options.client_ca.empty()) {
    tls.watch_root_certs();
    tls.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(tls);
}

}  // namespace sluice::server
