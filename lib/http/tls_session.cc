#include "lib/http/tls_session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/uio.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "lib/http/resolver.h"
#include "lib/http/wait_results.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

constexpr size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

}  // namespace

TlsSession::TlsSession(std::shared_ptr<TlsContext> context, std::string peer,
                       runtime::Socket& socket)
    : context_(std::move(context)),
      peer_(std::move(peer)),
      socket_(socket),
      ssl_(context_->NewConnection(&peer_), &SSL_free) {
  BIO* bio = BIO_new(SocketMethod());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
}

TlsSession::~TlsSession() {
  ERR_clear_error();
  if (state_ == State::kOpen || state_ == State::kEnded) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

bool TlsSession::ExpectServer(const std::string& name) {
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl_.get());
  if (IsAddress(name)) return X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1;
  // As RFC 9525: no name out of the subject, no `f*.example`.
  X509_VERIFY_PARAM_set_hostflags(
      wanted, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return !name.empty() && X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
}

WaitResult TlsSession::Handshake(absl::string_view server_name, Instant deadline) {
  const std::string name(absl::StripSuffix(server_name, "."));
  if (!ExpectServer(name)) {
    return Failed(Cause::kTlsFailed, "the server name is neither a name nor an address");
  }
  while (true) {
    ERR_clear_error();
    const int result = SSL_connect(ssl_.get());
    if (result == 1) {
      state_ = State::kOpen;
      holds_bytes_ = SSL_has_pending(ssl_.get());
      return {};
    }
    const int want = SSL_get_error(ssl_.get(), result);
    runtime::Wake wake;
    if (want == SSL_ERROR_WANT_READ) {
      wake = socket_.WaitReadable(deadline);
    } else if (want == SSL_ERROR_WANT_WRITE) {
      wake = socket_.WaitWritable(deadline);
    } else {
      return Failed(Cause::kTlsFailed, HandshakeError(name));
    }
    if (wake != runtime::Wake::kReady) return NotReady(wake);
  }
}

std::string TlsSession::HandshakeError(const std::string& server_name) {
  const unsigned long error = ERR_peek_last_error();
  if (error == 0 && socket_ended_) {
    return "the upstream closed the connection during the TLS handshake";
  }
  if (error == 0) return absl::StrCat("TLS handshake: ", std::strerror(socket_error_));
  std::string text = TlsErrorText(error);
  if (ERR_GET_REASON(error) != SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return absl::StrCat("TLS handshake: ", text);
  }
  const long verdict = SSL_get_verify_result(ssl_.get());
  absl::StrAppend(&text, ": ", X509_verify_cert_error_string(verdict));
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    absl::StrAppend(&text, ": it is not for ", server_name);
  }
  return text;
}

ssize_t TlsSession::Read(char* buffer, size_t size) {
  size_t filled = 0;
  while (state_ == State::kOpen && filled < size) {
    size_t got = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), buffer + filled, size - filled, &got);
    filled += got;
    if (result != 1 && MayGoOn(result)) break;
  }
  holds_bytes_ = filled == size && SSL_has_pending(ssl_.get());
  if (filled > 0) {
    any_bytes_ = true;
    return static_cast<ssize_t>(filled);
  }
  if (state_ == State::kEnded || state_ == State::kCutOff) return 0;
  errno = state_ == State::kOpen ? EAGAIN : EPROTO;
  return -1;
}

ssize_t TlsSession::Write(absl::Span<iovec> parts) {
  const char* bytes = static_cast<const char*>(parts[0].iov_base);
  size_t size = std::min(parts[0].iov_len, kRecordBytes);
  runtime::BufferPool::Lease gathered;
  if (parts.size() > 1 && size < kRecordBytes) {  // into one record, and one packet
    gathered = runtime::Loop::Current()->buffers().Take();
    size = 0;
    for (const iovec& part : parts) {
      const size_t taken = std::min(part.iov_len, kRecordBytes - size);
      std::memcpy(gathered.data() + size, part.iov_base, taken);
      size += taken;
    }
    bytes = gathered.data();
  }
  size_t put = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_.get(), bytes, size, &put);
  if (result == 1) return static_cast<ssize_t>(put);
  // Nothing more can be written, but an answer or an alert may still be there to read.
  const int want = SSL_get_error(ssl_.get(), result);
  errno = want == SSL_ERROR_WANT_WRITE || want == SSL_ERROR_WANT_READ ? EAGAIN : EPIPE;
  return -1;
}

bool TlsSession::MayGoOn(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return true;
    case SSL_ERROR_ZERO_RETURN:
      state_ = State::kEnded;
      return false;
    case SSL_ERROR_SSL:
      state_ = State::kBroken;
      tls_error_ = TlsErrorText(ERR_peek_last_error());
      return false;
    default:
      state_ = socket_ended_ ? State::kCutOff : State::kBroken;
      return false;
  }
}

WaitResult TlsSession::failure() const {
  if (tls_error_.empty()) return Failed(Cause::kUpstreamReset, std::strerror(socket_error_));
  // In TLS 1.3 the upstream refuses the client's certificate after what is the handshake to the
  // client. It has not seen the request then.
  return Failed(any_bytes_ ? Cause::kUpstreamReset : Cause::kTlsFailed,
                absl::StrCat("TLS: ", tls_error_));
}

const BIO_METHOD* TlsSession::SocketMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fiber socket");
    BIO_meth_set_read(made, &ReadSocket);
    BIO_meth_set_write(made, &WriteSocket);
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long {
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return made;
  }();
  return method;
}

int TlsSession::ReadSocket(BIO* bio, char* buffer, int size) {
  auto* self = static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (!self->socket_.readable()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const ssize_t got = self->socket_.Read(buffer, static_cast<size_t>(size));
  if (got == 0) self->socket_ended_ = true;
  if (got < 0 && errno == EAGAIN) {
    BIO_set_retry_read(bio);
  } else if (got < 0) {
    self->socket_error_ = errno;
  }
  return static_cast<int>(got);
}

int TlsSession::WriteSocket(BIO* bio, const char* bytes, int size) {
  auto* self = static_cast<TlsSession*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  iovec part = {const_cast<char*>(bytes), static_cast<size_t>(size)};
  const ssize_t put = self->socket_.Write(absl::MakeSpan(&part, 1));
  if (put < 0 && errno == EAGAIN) {
    BIO_set_retry_write(bio);
  } else if (put < 0) {
    self->socket_error_ = errno;
  }
  return static_cast<int>(put);
}

}  // namespace sluice::http
