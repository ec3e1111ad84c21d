#include "tests/support/engine_front.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "tests/support/eventually.h"

namespace sluice::testing {
namespace {

/// How soon a connection sees an order, or the end.
constexpr int kLookEveryMs = 5;

using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

Memory Reading(const std::string& pem) {
  return Memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
}

int Agree(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char*, unsigned,
          void* protocol) {
  const auto* wanted = static_cast<const std::string*>(protocol);
  *out = reinterpret_cast<const unsigned char*>(wanted->data());
  *out_size = static_cast<unsigned char>(wanted->size());
  return SSL_TLSEXT_ERR_OK;
}

std::string CommonName(X509* certificate) {
  std::array<char, 256> name{};
  if (certificate == nullptr) return "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            name.size());
  X509_free(certificate);
  return name.data();
}

bool SendAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t put = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

}  // namespace

struct EngineFront::Connection {
  int client = -1;
  int engine = -1;
  SSL* ssl = nullptr;  // null: plain
  std::atomic<bool> open{true};
  std::atomic<int> tickets{0};  // orders obeyed
  std::atomic<int> strays{0};
  std::thread thread;
};

EngineFront::EngineFront(Options options)
    : options_(std::move(options)), context_(MakeContext(), &SSL_CTX_free) {
  if (Listen()) acceptor_ = std::thread([this] { Accept(); });
}

EngineFront::~EngineFront() {
  stopping_ = true;
  if (acceptor_.joinable()) acceptor_.join();
  MutexLock lock(&mutex_);
  for (Connection& connection : served_) connection.thread.join();
  if (listener_ >= 0) ::close(listener_);
}

bool EngineFront::Listen() {
  sockaddr_storage address{};
  auto* ipv4 = reinterpret_cast<sockaddr_in*>(&address);
  auto* ipv6 = reinterpret_cast<sockaddr_in6*>(&address);
  auto* local = reinterpret_cast<sockaddr_un*>(&address);
  socklen_t size = sizeof *ipv4;
  if (::inet_pton(AF_INET, options_.at.c_str(), &ipv4->sin_addr) == 1) {
    address.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, options_.at.c_str(), &ipv6->sin6_addr) == 1) {
    address.ss_family = AF_INET6;
    size = sizeof *ipv6;
  } else {
    address = {};
    address.ss_family = AF_UNIX;
    options_.at.copy(local->sun_path, sizeof local->sun_path - 1);
    size = sizeof *local;
  }
  const int fd = ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 64) != 0) {
    ::close(fd);
    return false;
  }
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET) port_ = ntohs(ipv4->sin_port);
  if (address.ss_family == AF_INET6) port_ = ntohs(ipv6->sin6_port);
  listener_ = fd;
  return true;
}

SSL_CTX* EngineFront::MakeContext() const {
  if (options_.identity.certificate.empty()) return nullptr;
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);  // else new keys make a read wait for bytes
  SSL_CTX_set_min_proto_version(context, options_.version);
  SSL_CTX_set_max_proto_version(context, options_.version);
  X509* certificate =
      PEM_read_bio_X509(Reading(options_.identity.certificate).get(), nullptr, nullptr, nullptr);
  EVP_PKEY* key =
      PEM_read_bio_PrivateKey(Reading(options_.identity.key).get(), nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, key);
  X509_free(certificate);
  EVP_PKEY_free(key);
  static constexpr unsigned char kName[] = "engine front";
  SSL_CTX_set_session_id_context(context, kName, sizeof kName);
  SSL_CTX_set_alpn_select_cb(context, &Agree, const_cast<std::string*>(&options_.protocol));
  if (options_.client_authority.empty()) return context;
  X509* authority =
      PEM_read_bio_X509(Reading(options_.client_authority).get(), nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
  X509_free(authority);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

std::vector<EngineFront::Handshake> EngineFront::handshakes() const {
  MutexLock lock(&mutex_);
  return handshakes_;
}

void EngineFront::Accept() {
  while (!stopping_) {
    pollfd waiting = {listener_, POLLIN, 0};
    if (::poll(&waiting, 1, kLookEveryMs) != 1) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    ++connections_;
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    MutexLock lock(&mutex_);
    Connection& connection = served_.emplace_back();
    connection.client = client;
    connection.tickets = ticket_orders_.load();
    connection.strays = stray_orders_.load();
    connection.thread = std::thread([this, &connection] { Serve(&connection); });
  }
}

bool EngineFront::ShakeHands(Connection* connection) {
  connection->ssl = SSL_new(context_.get());
  SSL* ssl = connection->ssl;
  SSL_set_fd(ssl, connection->client);
  // A client that refuses the certificate, or says nothing, must not hold the thread for ever.
  const timeval patience = {1, 0};
  ::setsockopt(connection->client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (SSL_accept(ssl) != 1) return false;
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  MutexLock lock(&mutex_);
  handshakes_.push_back({.server_name = name != nullptr ? name : "",
                         .protocol = std::string(reinterpret_cast<const char*>(protocol), size),
                         .client = CommonName(SSL_get1_peer_certificate(ssl)),
                         .resumed = SSL_session_reused(ssl) == 1});
  return true;
}

void EngineFront::Serve(Connection* connection) {
  connection->engine = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in engine{};
  engine.sin_family = AF_INET;
  engine.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  engine.sin_port = htons(options_.engine_port);
  bool open =
      ::connect(connection->engine, reinterpret_cast<sockaddr*>(&engine), sizeof engine) == 0 &&
      (context_ == nullptr || ShakeHands(connection));
  std::array<char, 16384> bytes;
  bool cut = !open;
  while (open && !stopping_) {
    open = Obey(connection);
    pollfd waiting[] = {{connection->client, POLLIN, 0}, {connection->engine, POLLIN, 0}};
    if (!open || ::poll(waiting, 2, kLookEveryMs) <= 0) continue;
    if (waiting[0].revents != 0) {
      const ssize_t got =
          connection->ssl != nullptr
              ? SSL_read(connection->ssl, bytes.data(), static_cast<int>(bytes.size()))
              : ::recv(connection->client, bytes.data(), bytes.size(), 0);
      const bool nothing_yet =
          connection->ssl != nullptr && got <= 0 &&
          SSL_get_error(connection->ssl, static_cast<int>(got)) == SSL_ERROR_WANT_READ;
      if (nothing_yet) continue;
      open = got > 0 && SendAll(connection->engine, bytes.data(), static_cast<size_t>(got));
      cut = !open;
    }
    if (open && waiting[1].revents != 0) {
      const ssize_t got = ::recv(connection->engine, bytes.data(), bytes.size(), 0);
      open = got > 0 && Send(connection, bytes.data(), static_cast<size_t>(got));
    }
  }
  if (connection->ssl != nullptr) {
    if (!cut && !options_.cuts_off) SSL_shutdown(connection->ssl);
    SSL_free(connection->ssl);
  }
  // With unread bytes a close would send an RST, which may overtake what was sent before.
  ::shutdown(connection->client, SHUT_WR);
  while (::recv(connection->client, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
  }
  ::close(connection->client);
  ::close(connection->engine);
  connection->open = false;
}

bool EngineFront::Obey(Connection* connection) {
  if (connection->tickets < ticket_orders_) {
    SSL* ssl = connection->ssl;
    const bool sent = SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1 &&
                      SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 &&
                      SSL_do_handshake(ssl) == 1;
    if (!sent) return false;
    ++connection->tickets;
  }
  if (connection->strays < stray_orders_) {
    if (!Send(connection, "x", 1)) return false;
    ++connection->strays;
  }
  return true;
}

bool EngineFront::Send(Connection* connection, const char* bytes, size_t size) {
  while (size > 0) {
    const size_t part = std::min(size, options_.record_bytes);
    const bool sent = connection->ssl == nullptr
                          ? SendAll(connection->client, bytes, part)
                          : SSL_write(connection->ssl, bytes, static_cast<int>(part)) > 0;
    if (!sent) return false;
    bytes_sent_ += part;
    bytes += part;
    size -= part;
  }
  return true;
}

bool EngineFront::WaitForAll(const std::function<bool(const Connection&)>& holds) {
  return Eventually([&] {
    MutexLock lock(&mutex_);
    return std::all_of(served_.begin(), served_.end(), [&](const Connection& connection) {
      int on_their_way = 0;
      return !connection.open ||
             (holds(connection) && ::ioctl(connection.client, TIOCOUTQ, &on_their_way) == 0 &&
              on_their_way == 0);
    });
  });
}

bool EngineFront::WaitUntilDelivered(size_t bytes) {
  return WaitForAll([&](const Connection&) { return bytes_sent_ >= bytes; });
}

bool EngineFront::SendTickets() {
  const int order = ++ticket_orders_;
  return WaitForAll([order](const Connection& connection) { return connection.tickets >= order; });
}

bool EngineFront::SendStray() {
  const int order = ++stray_orders_;
  return WaitForAll([order](const Connection& connection) { return connection.strays >= order; });
}

}  // namespace sluice::testing
