#include "lib/http/tls_context.h"

#include <cstring>
#include <openssl/err.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/status.h"

namespace sluice::http {
namespace {

/// Some KiB each. More peers than that share one context only if addresses come and go for long.
constexpr size_t kMostSessions = 1024;

/// The one that all others followed from.
std::string OldestError() { return TlsErrorText(ERR_peek_error()); }

absl::Status CannotUse(absl::string_view option, const std::string& file) {
  return absl::FailedPreconditionError(absl::StrCat(option, " ", file, ": ", OldestError()));
}

/// For a key that needs a pass phrase: OpenSSL's own would ask at the terminal.
int RefusePassPhrase(char*, int, int, void*) { return -1; }

}  // namespace

std::string TlsErrorText(unsigned long error) {
  if (error == 0) return "unknown error";
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : absl::StrCat("error ", error);
}

TlsContext::TlsContext() : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {}

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Load(const TlsOptions& options) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> context(new TlsContext());
  if (context->context_ == nullptr) return absl::FailedPreconditionError(OldestError());
  SLUICE_RETURN_IF_ERROR(context->Read(options));
  return context;
}

absl::Status TlsContext::Read(const TlsOptions& options) {
  SSL_CTX* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // A silent stream holds no buffers. A record that could not be written whole is written again
  // from wherever its bytes are then.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);  // else: one read for a record's head, one for its body
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(context, kHttp11, sizeof kHttp11 - 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_sess_set_new_cb(context, &KeepSession);

  SSL_CTX_set_verify(context, options.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!options.ca_file.empty()) {
    // Whatever the file holds is trusted, be it no root.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    if (SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1) {
      return CannotUse("ca_file", options.ca_file);
    }
  } else if (!options.insecure && SSL_CTX_set_default_verify_paths(context) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("the system's certificates: ", OldestError()));
  }

  if (options.certificate_file.empty()) return absl::OkStatus();
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1) {
    return CannotUse("certificate_file", options.certificate_file);
  }
  SSL_CTX_set_default_passwd_cb(context, &RefusePassPhrase);
  if (SSL_CTX_use_PrivateKey_file(context, options.private_key_file.c_str(), SSL_FILETYPE_PEM) !=
      1) {
    return CannotUse("private_key_file", options.private_key_file);
  }
  return absl::OkStatus();
}

SSL* TlsContext::NewConnection(const std::string* peer) {
  SSL* connection = SSL_new(context_.get());
  SSL_set_app_data(connection, const_cast<std::string*>(peer));
  if (const Session session = TakeSession(*peer)) SSL_set_session(connection, session.get());
  return connection;
}

int TlsContext::KeepSession(SSL* connection, SSL_SESSION* session) {
  auto* self = static_cast<TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  const auto* peer = static_cast<const std::string*>(SSL_get_app_data(connection));
  MutexLock lock(&self->mutex_);
  if (self->sessions_.size() >= kMostSessions) self->sessions_.clear();
  self->sessions_.insert_or_assign(*peer, Session(session, &SSL_SESSION_free));
  return 1;
}

TlsContext::Session TlsContext::TakeSession(const std::string& peer) {
  MutexLock lock(&mutex_);
  const auto found = sessions_.find(peer);
  if (found == sessions_.end()) return Session(nullptr, &SSL_SESSION_free);
  if (SSL_SESSION_get_protocol_version(found->second.get()) < TLS1_3_VERSION) {
    SSL_SESSION_up_ref(found->second.get());
    return Session(found->second.get(), &SSL_SESSION_free);
  }
  Session session = std::move(found->second);
  sessions_.erase(found);
  return session;
}

}  // namespace sluice::http
