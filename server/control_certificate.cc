#include "server/control_certificate.h"

#include <algorithm>
#include <chrono>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/base/read_file.h"
#include "lib/base/status.h"

namespace sluice::server {
namespace {

constexpr Duration kLookInterval = std::chrono::seconds(1);

/// With what OpenSSL says about it.
absl::Status Unusable(absl::string_view flag, const std::string& path) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return absl::UnauthenticatedError(
      absl::StrCat(flag, ": ", path, " cannot be used: ", reason == nullptr ? "unknown" : reason));
}

/// What gRPC would only find out when a client connects.
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

ControlCertificate::ControlCertificate(const AccessOptions& options, const Clock& clock)
    : options_(options), clock_(clock), next_look_(clock.Now() + kLookInterval) {
  for (const std::string& path : {options.tls_cert, options.tls_key, options.client_ca}) {
    if (!path.empty()) files_.emplace_back(path);
  }
}

absl::StatusOr<std::unique_ptr<ControlCertificate>> ControlCertificate::Open(
    const AccessOptions& options, const Clock& clock) {
  std::unique_ptr<ControlCertificate> certificate(new ControlCertificate(options, clock));
  MutexLock lock(&certificate->mutex_);
  SLUICE_RETURN_IF_ERROR(certificate->Load());
  return certificate;
}

void ControlCertificate::Reload() {
  MutexLock lock(&mutex_);
  HaveChanged();  // the next look is compared with this one
  LoadAndTell();
}

grpc_ssl_certificate_config_reload_status ControlCertificate::Fetch(
    grpc_ssl_server_certificate_config** config) {
  MutexLock lock(&mutex_);
  if (const Instant now = clock_.Now(); now >= next_look_) {
    next_look_ = now + kLookInterval;
    if (HaveChanged()) LoadAndTell();
  }
  if (std::exchange(fetched_, true)) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{texts_.key.c_str(), texts_.certificate.c_str()};
  // It wants some authorities, though it asks clients for no certificate and so never uses them.
  const std::string& authorities = texts_.client_ca.empty() ? texts_.certificate : texts_.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

bool ControlCertificate::HaveChanged() {
  return std::count_if(files_.begin(), files_.end(),
                       [](AccessFile& file) { return file.HasChanged(); }) > 0;
}

absl::Status ControlCertificate::Load() {
  SLUICE_RETURN_IF_ERROR(CheckFiles(options_));
  Texts texts;
  SLUICE_ASSIGN_OR_RETURN(texts.certificate, ReadWholeFile(options_.tls_cert));
  SLUICE_ASSIGN_OR_RETURN(texts.key, ReadWholeFile(options_.tls_key));
  if (!options_.client_ca.empty()) {
    SLUICE_ASSIGN_OR_RETURN(texts.client_ca, ReadWholeFile(options_.client_ca));
  }
  fetched_ = fetched_ && texts == texts_;
  texts_ = std::move(texts);
  return absl::OkStatus();
}

void ControlCertificate::LoadAndTell() {
  const bool fetched = fetched_;
  if (const absl::Status loaded = Load(); !loaded.ok()) {
    Log(LogLevel::kWarning,
        "renewed TLS files of the control port cannot be used; the old ones stay in use",
        {{"reason", loaded.message()}});
  } else if (fetched && !fetched_) {
    Log(LogLevel::kInfo, "the TLS files of the control port have changed",
        {{"path", options_.tls_cert}});
  }
}

}  // namespace sluice::server
