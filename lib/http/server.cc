#include "lib/http/server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/runtime/socket.h"

namespace sluice::http {
namespace {

/// As many as the system allows: a connection that finds the queue full waits a second for its next
/// try.
constexpr int kBacklog = SOMAXCONN;
/// While accept(2) fails for want of descriptors or memory, trying at once again would only spin.
constexpr auto kAcceptPause = std::chrono::milliseconds(50);
/// Between two lines about clients that are turned away.
constexpr auto kLogPause = std::chrono::seconds(1);

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* any() { return reinterpret_cast<sockaddr*>(&storage); }
};

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not ADDRESS:PORT with a port from 0 to 65535"));
  }
  std::string host(text.substr(0, colon));
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (!bracketed && ::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<uint16_t>(port));
    address.size = sizeof *v4;
  } else if (bracketed && ::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<uint16_t>(port));
    address.size = sizeof *v6;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", host, "\" is not an IPv4 address, or an IPv6 address in brackets"));
  }
  return address;
}

int PortOf(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
}

std::string ToText(const Address& address) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr, host,
                sizeof host);
    return absl::StrCat(host, ":", PortOf(address));
  }
  ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr, host,
              sizeof host);
  return absl::StrCat("[", host, "]:", PortOf(address));
}

/// The kernel asks a program which of the listeners that share a port gets a connection, by the
/// order in which they came; where it names none, as when there is no second, the kernel chooses by
/// itself. What a listener that closes has not accepted would be reset: so it must not get any more
/// before.
void LeaveToSecondListener(int listener) {
  sock_filter second = {BPF_RET | BPF_K, 0, 0, 1};
  const sock_fprog program = {1, &second};
  if (::setsockopt(listener, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0) {
    return;
  }
  Log(LogLevel::kWarning, "cannot leave new connections to another listener",
      {{"reason", std::strerror(errno)}});
}

void SetOption(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

int OpenReserve() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

/// The connections of one loop; confined to its thread, but for `count`.
struct Server::LoopState {
  explicit LoopState(runtime::Loop* l) : loop(l) {}

  struct Running {
    runtime::Interrupter interrupter;      // of its fiber
    Cancellation* cancellation = nullptr;  // of the exchange under way, if one is
    bool late = false;                     // brings its first request once a drain has begun
  };

  runtime::Loop* const loop;
  std::atomic<size_t> count{0};
  std::unordered_map<ClientConnection*, Running> running;
  bool cancelled = false;                        // by CancelAll: nothing is read any more
  std::optional<runtime::Interrupter> acceptor;  // on the first loop, while it accepts
};

Server::Server(const ServerOptions& options, Handler& handler,
               const std::vector<std::unique_ptr<runtime::Loop>>& loops)
    : options_(options), handler_(handler), reserve_fd_(OpenReserve()) {
  for (const auto& loop : loops) loop_states_.push_back(std::make_unique<LoopState>(loop.get()));
}

Server::~Server() {
  if (reserve_fd_ >= 0) ::close(reserve_fd_);
}

absl::Status Server::Listen(absl::string_view text) {
  absl::StatusOr<Address> address = ParseAddress(text);
  if (!address.ok()) return address.status();
  const int fd =
      ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::UnavailableError(absl::StrCat("no socket: ", std::strerror(errno)));
  SetOption(fd, SOL_SOCKET, SO_REUSEADDR);
  if (options_.reuse_port) SetOption(fd, SOL_SOCKET, SO_REUSEPORT);
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY);  // inherited by what it accepts
  if (::bind(fd, address->any(), address->size) != 0 || ::listen(fd, kBacklog) != 0 ||
      ::getsockname(fd, address->any(), &address->size) != 0) {
    const std::string reason = std::strerror(errno);
    ::close(fd);
    return absl::UnavailableError(absl::StrCat("cannot listen on ", text, ": ", reason));
  }
  port_ = PortOf(*address);
  runtime::Loop* loop = loop_states_.front()->loop;
  loop->Post([this, fd, loop] {
    if (!loop->Spawn([this, fd] { Accept(fd); })) ::close(fd);
  });
  return absl::OkStatus();
}

void Server::Accept(int fd) {
  runtime::Socket listener(fd);
  loop_states_.front()->acceptor = runtime::Interrupter::Arm();
  ++listeners_;
  listener_ = fd;
  while (true) {
    if (!stopping_) listener.WaitReadable(kNever);
    Address peer;
    peer.size = sizeof peer.storage;
    const int client = ::accept4(fd, peer.any(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
      Place(client, ToText(peer));
    } else if (errno == EAGAIN) {
      if (stopping_) break;
      listener.MarkDrained();
    } else if ((errno == EMFILE || errno == ENFILE) && TurnAwayByReserve(fd)) {
      continue;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      if (stopping_) break;
      Log(LogLevel::kWarning, "cannot accept",
          {{"errno", errno}, {"reason", std::strerror(errno)}});
      runtime::SleepUntil(std::chrono::steady_clock::now() + kAcceptPause);
    }
  }
  --listeners_;
  listener_ = -1;
  loop_states_.front()->acceptor.reset();
}

void Server::AnnounceEnd() {
  ending_ = true;
  if (!options_.reuse_port) return;
  loop_states_.front()->loop->Post([this] {
    if (listener_ >= 0) LeaveToSecondListener(listener_);
  });
}

bool Server::TurnAwayByReserve(int listener) {
  const int error = errno;
  if (reserve_fd_ >= 0) ::close(reserve_fd_);
  const int client = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (client >= 0) TurnAway(client, "no descriptors left");
  reserve_fd_ = OpenReserve();
  errno = error;
  return client >= 0;
}

void Server::Place(int fd, std::string peer) {
  if (connections() >= options_.max_connections) return TurnAway(fd, "too many connections");
  LoopState& state = **std::min_element(
      loop_states_.begin(), loop_states_.end(),
      [](const auto& a, const auto& b) { return a->count.load() < b->count.load(); });
  ++connections_;
  ++state.count;
  auto start = [this, &state, fd, peer = std::move(peer)] {
    const bool spawned = state.loop->Spawn([this, &state, fd, peer] {
      ServeConnection(state, fd, peer);
      --state.count;
      --connections_;
    });
    if (spawned) return;
    Log(LogLevel::kError, "connection dropped: no memory for a stack");
    ::close(fd);
    --state.count;
    --connections_;
  };
  if (state.loop == runtime::Loop::Current()) {
    start();
  } else {
    state.loop->Post(std::move(start));
  }
}

void Server::TurnAway(int fd, absl::string_view reason) {
  static constexpr absl::string_view kFull =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
      "Connection: close\r\n\r\n";
  [[maybe_unused]] const ssize_t sent = ::send(fd, kFull.data(), kFull.size(), MSG_NOSIGNAL);
  ::close(fd);
  const Instant now = std::chrono::steady_clock::now();
  if (now - turned_away_logged_ < kLogPause) return;
  turned_away_logged_ = now;
  Log(LogLevel::kWarning, "turning clients away",
      {{"reason", reason}, {"connections", connections()}});
}

void Server::ServeConnection(LoopState& state, int fd, const std::string& peer) {
  ClientConnection connection(fd, peer, options_.read);
  LoopState::Running& running =
      state.running.emplace(&connection, LoopState::Running{runtime::Interrupter::Arm()})
          .first->second;
  running.late = draining_;
  late_ += running.late ? 1 : 0;
  while (!state.cancelled) {
    running.interrupter = runtime::Interrupter::Arm();
    RequestParser::Limits limits;
    limits.max_body_bytes = handler_.max_body_bytes();
    ClientConnection::Incoming incoming = connection.ReadRequest(limits);
    if (incoming.kind == ClientConnection::Incoming::kClosed || state.cancelled) break;
    const bool refused = incoming.kind == ClientConnection::Incoming::kRefused;

    Cancellation cancellation;
    cancellation.OnCancel([interrupter = running.interrupter] { interrupter.Fire(); });
    if (!refused) {
      connection.socket().OnHangUp(
          [&] { cancellation.Cancel(Cause::kClientGone, std::chrono::steady_clock::now()); });
    }
    running.cancellation = &cancellation;
    const HttplibDispatch::Framing framing = {
        .minor_version = refused ? 1 : incoming.request.minor_version,
        .keep_alive = [this, &incoming] { return incoming.keep_alive && !ending_; },
    };
    const HttplibDispatch::Outcome outcome = dispatch_.Run(connection, framing, [&] {
      return refused ? handler_.Refuse(incoming.refusal.cause, incoming.refusal.message, peer,
                                       incoming.accepted, cancellation)
                     : ServeOrExplain(incoming, peer, cancellation);
    });
    running.cancellation = nullptr;
    connection.socket().OnHangUp({});
    cancellation.Detach();
    if (outcome == HttplibDispatch::Outcome::kReusable) {
      if (!draining_) continue;
      if (!connection.socket().readable()) break;
    }
    if (outcome == HttplibDispatch::Outcome::kCutOff) {
      connection.ResetOnClose();
    } else if (!connection.socket().hung_up()) {
      connection.LingerAndClose();
    }
    break;
  }
  late_ -= running.late ? 1 : 0;
  state.running.erase(&connection);
}

std::unique_ptr<Answer> Server::ServeOrExplain(ClientConnection::Incoming& incoming,
                                               const std::string& peer,
                                               Cancellation& cancellation) {
  try {
    return handler_.Serve(std::move(incoming.request), incoming.accepted, cancellation);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "exception in a handler", {{"what", error.what()}});
    return handler_.Refuse(Cause::kInternal, InfoOf(Cause::kInternal).message, peer,
                           incoming.accepted, cancellation);
  }
}

void Server::Drain() {
  ending_ = true;
  draining_ = true;
  for (const auto& state : loop_states_) {
    state->loop->Post([this, state = state.get()] {
      for (auto& [connection, running] : state->running) {
        if (!connection->idle() || running.late) continue;
        if (connection->fresh()) {
          running.late = true;
          ++late_;
        } else {
          running.interrupter.Fire();
        }
      }
    });
  }
}

void Server::StopAccepting() {
  LoopState* state = loop_states_.front().get();
  state->loop->Post([this, state] {
    stopping_ = true;
    if (state->acceptor.has_value()) state->acceptor->Fire();
  });
}

void Server::CancelAll(Cause cause) {
  StopAccepting();
  for (const auto& state : loop_states_) {
    state->loop->Post([state = state.get(), cause] {
      state->cancelled = true;
      for (const auto& [connection, running] : state->running) {
        if (running.cancellation != nullptr) {
          running.cancellation->Cancel(cause, std::chrono::steady_clock::now());
        } else {
          running.interrupter.Fire();
        }
      }
    });
  }
}

}  // namespace sluice::http
