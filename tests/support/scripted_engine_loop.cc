#include <algorithm>
#include <array>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

Instant Now() { return std::chrono::steady_clock::now(); }

Script NothingScripted() {
  return Script().Json(
      R"({"error":{"message":"the scripted engine has no script for this request"}})",
      "500 Internal Server Error");
}

std::string Progress(const EngineAnswer& answer) {
  const std::optional<uint64_t> total = answer.script().piece_count();
  return total ? absl::StrCat(answer.pieces_sent(), " of ", *total, " pieces")
               : absl::StrCat(answer.pieces_sent(), " pieces");
}

}  // namespace

void ScriptedEngine::Run() {
  std::array<epoll_event, 256> events;
  while (true) {
    int timeout = -1;
    if (!timers_.empty()) {
      const Duration left = std::max(timers_.begin()->first - Now(), Duration::zero());
      timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    const int count = ::epoll_wait(epoll_, events.data(), events.size(), timeout);
    for (int i = 0; i < count; ++i) {
      const uint64_t tag = events[i].data.u64;
      if (tag == kListenerTag) {
        Accept();
      } else if (tag == kWakeTag) {
        if (!ObeyCommands()) return;
      } else if (const auto found = connections_.find(tag); found != connections_.end()) {
        ReadAndAdvance(found->second.get());
      }
    }
    RunTimers();
  }
}

void ScriptedEngine::RunTimers() {
  const Instant now = Now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Connection* connection = connections_.at(timers_.begin()->second).get();
    WakeAt(connection, kNever);
    if (connection->answer) {
      Advance(connection);
    } else {
      Close(connection, /*reset=*/false);  // it was idle for too long
    }
  }
}

void ScriptedEngine::Accept() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    auto connection = std::make_unique<Connection>();
    connection->fd = fd;
    connection->number = ++last_connection_;
    epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = connection->number}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    connections_.emplace(connection->number, std::move(connection));
    MutexLock lock(&mutex_);
    ++counts_.accepted;
    ++counts_.open;
    changed_.NotifyAll();
  }
}

bool ScriptedEngine::ObeyCommands() {
  uint64_t ignored;
  [[maybe_unused]] const ssize_t n = ::read(wake_, &ignored, sizeof(ignored));
  bool reset_all;
  bool gates_changed;
  {
    MutexLock lock(&mutex_);
    if (stopping_) return false;
    reset_all = std::exchange(reset_all_, false);
    gates_changed = std::exchange(gates_changed_, false);
  }
  if (reset_all) {
    while (!connections_.empty()) Close(connections_.begin()->second.get(), /*reset=*/true);
  }
  if (gates_changed) {
    std::vector<Connection*> standing;
    for (const auto& [number, connection] : connections_) {
      if (connection->gate && GateIsOpen(*connection->gate)) standing.push_back(connection.get());
    }
    for (Connection* connection : standing) Advance(connection);
  }
  return true;
}

bool ScriptedEngine::ReadAndAdvance(Connection* connection) {
  std::array<char, 65536> bytes;
  while (true) {
    const ssize_t n = ::recv(connection->fd, bytes.data(), bytes.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return Advance(connection);
    if (n <= 0) {
      PeerLeft(connection, /*reset=*/n < 0);
      return false;
    }
    {
      MutexLock lock(&mutex_);
      counts_.bytes_received += static_cast<uint64_t>(n);
    }
    connection->reader.Feed(absl::string_view(bytes.data(), static_cast<size_t>(n)));
    if (!connection->answer && !Advance(connection)) return false;
  }
}

bool ScriptedEngine::Advance(Connection* connection) {
  while (connection->answer || BeginNextAnswer(connection)) {
    EngineAnswer& answer = *connection->answer;
    const auto is_open = [this](const std::string& gate) { return GateIsOpen(gate); };
    const EngineAnswer::State state = answer.Play(connection->fd, Now(), is_open);
    WatchWritable(connection, state == EngineAnswer::State::kBlocked);
    StandAtGate(connection, state == EngineAnswer::State::kAtGate ? std::optional(answer.gate())
                                                                  : std::nullopt);
    WakeAt(connection, state == EngineAnswer::State::kPaused    ? answer.resume_at()
                       : state == EngineAnswer::State::kYielded ? Now()
                                                                : kNever);
    switch (state) {
      case EngineAnswer::State::kBlocked:
      case EngineAnswer::State::kPaused:
      case EngineAnswer::State::kYielded:
      case EngineAnswer::State::kAtGate:
        return true;
      case EngineAnswer::State::kDone:
        AnswerEnded(connection);
        break;
      case EngineAnswer::State::kFin:
      case EngineAnswer::State::kReset:
        AnswerEnded(connection);
        Close(connection, state == EngineAnswer::State::kReset);
        return false;
      case EngineAnswer::State::kPeerGone:
        PeerLeft(connection, /*reset=*/true);
        return false;
    }
  }
  WakeAt(connection, DeadlineAfter(Now(), options_.keep_alive));
  return true;
}

bool ScriptedEngine::BeginNextAnswer(Connection* connection) {
  std::optional<EngineRequest> request = connection->reader.Next();
  if (!request) return false;
  request->connection = connection->number;
  request->at = Now();
  connection->answer.emplace(ScriptFor(*request), ++last_request_);
  Say(absl::StrCat("request ", last_request_, " on connection ", connection->number, ": ",
                   request->method(), " ", request->target(), " model=", request->model(),
                   " stream=", request->stream() ? "true" : "false"));
  MutexLock lock(&mutex_);
  ++counts_.requests;
  if (options_.keep_requests) requests_.push_back(*std::move(request));
  changed_.NotifyAll();
  return true;
}

Script ScriptedEngine::ScriptFor(const EngineRequest& request) {
  std::shared_ptr<const Responder> responder;
  {
    MutexLock lock(&mutex_);
    if (!queue_.empty()) {
      Script script = std::move(queue_.front());
      queue_.pop_front();
      return script;
    }
    responder = responder_;
  }
  return responder ? (*responder)(request) : NothingScripted();
}

bool ScriptedEngine::GateIsOpen(const std::string& name) const {
  MutexLock lock(&mutex_);
  return !name.empty() && open_gates_.count(name) > 0;
}

void ScriptedEngine::AnswerEnded(Connection* connection) {
  Say(absl::StrCat("request ", connection->answer->number(),
                   " answered: ", Progress(*connection->answer)));
  connection->answer.reset();
  MutexLock lock(&mutex_);
  ++counts_.answered;
  changed_.NotifyAll();
}

void ScriptedEngine::PeerLeft(Connection* connection, bool reset) {
  if (connection->answer) {
    const EngineAnswer& answer = *connection->answer;
    Say(absl::StrCat("request ", answer.number(), ": client left after ", Progress(answer),
                     reset ? " (RST)" : " (FIN)"));
    MutexLock lock(&mutex_);
    ++counts_.cancelled;
    clients_left_.push_back({.request = answer.number() - 1,
                             .connection = connection->number,
                             .at = Now(),
                             .reset = reset,
                             .pieces_sent = answer.pieces_sent(),
                             .pieces_total = answer.script().piece_count()});
  }
  Close(connection, /*reset=*/false);
}

void ScriptedEngine::Close(Connection* connection, bool reset) {
  WakeAt(connection, kNever);
  StandAtGate(connection, std::nullopt);
  if (reset) {
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  } else {
    // Closing with unread bytes would send an RST, which may overtake what was sent before.
    std::array<char, 65536> ignored;
    while (::recv(connection->fd, ignored.data(), ignored.size(), 0) > 0) {
    }
  }
  ::close(connection->fd);
  connections_.erase(connection->number);
  MutexLock lock(&mutex_);
  --counts_.open;
  changed_.NotifyAll();
}

void ScriptedEngine::WakeAt(Connection* connection, Instant when) {
  if (connection->wakes_at == when) return;
  if (connection->wakes_at != kNever) timers_.erase({connection->wakes_at, connection->number});
  connection->wakes_at = when;
  if (when != kNever) timers_.emplace(when, connection->number);
}

void ScriptedEngine::WatchWritable(Connection* connection, bool on) {
  if (connection->watches_writable == on) return;
  connection->watches_writable = on;
  epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = connection->number}};
  if (on) event.events |= EPOLLOUT;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection->fd, &event);
}

void ScriptedEngine::StandAtGate(Connection* connection, std::optional<std::string> gate) {
  if (connection->gate == gate) return;
  MutexLock lock(&mutex_);
  if (connection->gate) --at_gate_[*connection->gate];
  if (gate) ++at_gate_[*gate];
  connection->gate = std::move(gate);
  changed_.NotifyAll();
}

void ScriptedEngine::Say(absl::string_view line) const {
  if (options_.log) options_.log(line);
}

}  // namespace sluice::testing
