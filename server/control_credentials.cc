#include "server/control_credentials.h"

#include "absl/strings/str_cat.h"

#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "lib/base/local_address.h"
#include "server/control_certificate.h"

namespace sluice::server {
namespace {

/// gRPC's C++ API has no credentials that ask for their files anew; its C API has.
class RenewedCredentials final : public grpc::ServerCredentials {
 public:
  RenewedCredentials(ControlCertificate& certificate, bool wants_clients_certificate)
      : credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                wants_clients_certificate
                    ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                    : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                [](void* fetched_from, grpc_ssl_server_certificate_config** config) {
                  return static_cast<ControlCertificate*>(fetched_from)->Fetch(config);
                },
                &certificate))) {}
  ~RenewedCredentials() override { grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

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

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(ControlCertificate* certificate,
                                                               const AccessOptions& options) {
  if (certificate == nullptr) return grpc::InsecureServerCredentials();
  return std::make_shared<RenewedCredentials>(*certificate, !options.client_ca.empty());
}

}  // namespace sluice::server
