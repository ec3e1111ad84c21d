#include "lib/http/upstream_dialer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/http/tls_session.h"
#include "lib/http/wait_results.h"

namespace sluice::http {
namespace {

using runtime::Wake;

/// How long one of several silent addresses is looked at before the others.
constexpr Duration kLook = std::chrono::milliseconds(20);

Instant Now() { return std::chrono::steady_clock::now(); }

int ErrorOf(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// Of an address, for people.
std::string NameOf(const UpstreamAddress& address) {
  if (address.uri.scheme == EndpointUri::Scheme::kUnix) {
    return absl::StrCat("unix:", address.uri.socket_path);
  }
  if (address.ip.empty()) return address.uri.authority;
  return absl::StrCat(address.uri.authority, " at ", address.ip);
}

/// Waits until one of `pending` is connected and takes it out, drops those that failed. kDeadline:
/// some are left. kFailed: none are.
WaitResult WaitForOne(std::vector<std::unique_ptr<UpstreamSocket>>* pending, Instant deadline,
                      std::unique_ptr<UpstreamSocket>* connected, int* error) {
  for (size_t i = 0; !pending->empty(); ++i) {
    const auto one = pending->begin() + static_cast<ptrdiff_t>(i % pending->size());
    const Instant until = pending->size() == 1 ? deadline : std::min(deadline, Now() + kLook);
    const Wake wake = (*one)->transport().WaitWritable(until);
    if (wake == Wake::kInterrupted) return NotReady(wake);
    if (wake == Wake::kDeadline) {
      if (until == deadline) return NotReady(wake);
      continue;
    }
    const int failed = ErrorOf((*one)->transport().fd());
    if (failed == 0) *connected = std::move(*one);
    pending->erase(one);
    if (failed == 0) return {};
    *error = failed;
  }
  return {WaitResult::kFailed};
}

}  // namespace

WaitResult UpstreamDialer::Dial(const UpstreamAddress& address, Instant deadline,
                                std::unique_ptr<UpstreamSocket>* socket) {
  const EndpointUri& uri = address.uri;
  std::vector<SocketAddress> addresses;
  WaitResult result;
  if (uri.scheme == EndpointUri::Scheme::kUnix) {
    addresses = {UnixAddress(uri.socket_path)};
  } else {
    const std::string& host = address.ip.empty() ? uri.host : address.ip;
    result = Resolve(threads_, host, uri.port, deadline, &addresses);
  }
  if (result.kind == WaitResult::kOk) result = Connect(addresses, deadline, socket);
  if (result.kind == WaitResult::kOk && uri.scheme == EndpointUri::Scheme::kHttps) {
    result = StartTls(address, deadline, socket->get());
    if (result.kind == WaitResult::kDeadline) {
      result.detail = absl::StrCat(NameOf(address),
                                   ": is connected, but the TLS handshake did not end in time");
    }
  }
  if (result.kind == WaitResult::kOk) return {};
  socket->reset();
  if (result.kind == WaitResult::kFailed && result.failure != Cause::kDnsFailed) {
    result.detail = absl::StrCat(NameOf(address), ": ", result.detail);
  }
  return result;
}

WaitResult UpstreamDialer::Connect(const std::vector<SocketAddress>& addresses, Instant deadline,
                                   std::unique_ptr<UpstreamSocket>* socket) {
  std::vector<std::unique_ptr<UpstreamSocket>> pending;
  int error = EADDRNOTAVAIL;
  for (size_t i = 0; i < addresses.size(); ++i) {
    std::unique_ptr<UpstreamSocket> begun;
    const int failed = Begin(addresses[i], &begun);
    if (failed == 0) {
      *socket = std::move(begun);
      return {};
    }
    if (failed == EINPROGRESS) {
      pending.push_back(std::move(begun));
    } else {
      error = failed;
    }
    const bool last = i + 1 == addresses.size();
    const Instant until = last ? deadline : std::min(deadline, Now() + kNextAddressAfter);
    WaitResult result = WaitForOne(&pending, until, socket, &error);
    const bool next = !last && (result.kind == WaitResult::kFailed ||
                                (result.kind == WaitResult::kDeadline && until != deadline));
    if (!next && result.kind != WaitResult::kFailed) return result;
  }
  return Failed(Cause::kConnectFailed, std::strerror(error));
}

int UpstreamDialer::Begin(const SocketAddress& address, std::unique_ptr<UpstreamSocket>* socket) {
  const int family = address.storage.ss_family;
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  if (family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const int error = ::connect(fd, address.any(), address.size) == 0 ? 0 : errno;
  *socket = std::make_unique<UpstreamSocket>(fd, &open_);
  if (error == EINPROGRESS) (*socket)->transport().ExpectConnect();
  return error;
}

WaitResult UpstreamDialer::StartTls(const UpstreamAddress& address, Instant deadline,
                                    UpstreamSocket* socket) {
  std::shared_ptr<TlsContext> context;
  WaitResult result = contexts_.Get(address.tls, deadline, &context);
  if (result.kind != WaitResult::kOk) return result;
  const std::string& name =
      address.tls.server_name.empty() ? address.uri.host : address.tls.server_name;
  auto tls = std::make_unique<TlsSession>(std::move(context), NameOf(address), socket->transport());
  result = tls->Handshake(name, deadline);
  if (result.kind == WaitResult::kOk) socket->SpeakThrough(std::move(tls));
  return result;
}

}  // namespace sluice::http
