#include "tests/support/scripted_engine.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "lib/base/status.h"

namespace sluice::testing {
namespace {

constexpr int kBacklog = 4096;

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

/// Binds to 127.0.0.1:`port` and returns the port it got; 0 when it is taken.
uint16_t BindLoopback(int fd, uint16_t port) {
  sockaddr_in address = Loopback(port);
  socklen_t size = sizeof(address);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

std::string LoopbackUri(uint16_t port) { return absl::StrCat("http://127.0.0.1:", port); }

}  // namespace

absl::StatusOr<std::unique_ptr<ScriptedEngine>> ScriptedEngine::Start(Options options) {
  std::unique_ptr<ScriptedEngine> engine(new ScriptedEngine(std::move(options)));
  SLUICE_RETURN_IF_ERROR(engine->Listen());
  engine->thread_ = std::thread([raw = engine.get()] { raw->Run(); });
  return engine;
}

ScriptedEngine::ScriptedEngine(Options options) : options_(std::move(options)) {}

absl::Status ScriptedEngine::Listen() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  port_ = BindLoopback(listener_, options_.port);
  if (port_ == 0 || ::listen(listener_, kBacklog) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on 127.0.0.1:", options_.port, ": ", strerror(errno)));
  }
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = kListenerTag}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event);
  event.data.u64 = kWakeTag;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  return absl::OkStatus();
}

ScriptedEngine::~ScriptedEngine() {
  if (thread_.joinable()) {
    {
      MutexLock lock(&mutex_);
      stopping_ = true;
    }
    Wake();
    thread_.join();
  }
  while (!connections_.empty()) Close(connections_.begin()->second.get(), /*reset=*/true);
  for (const int fd : {listener_, wake_, epoll_}) {
    if (fd >= 0) ::close(fd);
  }
}

std::string ScriptedEngine::uri() const { return LoopbackUri(port_); }

void ScriptedEngine::Enqueue(Script script) {
  MutexLock lock(&mutex_);
  queue_.push_back(std::move(script));
}

void ScriptedEngine::SetResponder(Responder responder) {
  auto shared = std::make_shared<const Responder>(std::move(responder));
  MutexLock lock(&mutex_);
  responder_ = std::move(shared);
}

void ScriptedEngine::AnswerAll(Script script) {
  SetResponder([script = std::move(script)](const EngineRequest&) { return script; });
}

void ScriptedEngine::OpenGate(absl::string_view name) {
  {
    MutexLock lock(&mutex_);
    open_gates_.emplace(name);
    gates_changed_ = true;
  }
  Wake();
}

void ScriptedEngine::ResetConnections() {
  {
    MutexLock lock(&mutex_);
    reset_all_ = true;
  }
  Wake();
}

EngineCounts ScriptedEngine::counts() const {
  MutexLock lock(&mutex_);
  return counts_;
}

std::vector<EngineRequest> ScriptedEngine::requests() const {
  MutexLock lock(&mutex_);
  return requests_;
}

std::vector<ClientLeft> ScriptedEngine::clients_left() const {
  MutexLock lock(&mutex_);
  return clients_left_;
}

template <typename Condition>
bool ScriptedEngine::WaitFor(Duration patience, Condition condition) {
  MutexLock lock(&mutex_);
  return changed_.WaitFor(&mutex_, patience, condition);
}

bool ScriptedEngine::WaitForRequests(uint64_t at_least, Duration patience) {
  return WaitFor(patience, [&] { return counts_.requests >= at_least; });
}

bool ScriptedEngine::WaitForAnswered(uint64_t at_least, Duration patience) {
  return WaitFor(patience, [&] { return counts_.answered >= at_least; });
}

bool ScriptedEngine::WaitForCancelled(uint64_t at_least, Duration patience) {
  return WaitFor(patience, [&] { return counts_.cancelled >= at_least; });
}

bool ScriptedEngine::WaitForOpenConnections(uint64_t exactly, Duration patience) {
  return WaitFor(patience, [&] { return counts_.open == exactly; });
}

bool ScriptedEngine::WaitAtGate(absl::string_view name, uint64_t at_least, Duration patience) {
  return WaitFor(patience, [&] {
    const auto found = at_gate_.find(name);
    return (found == at_gate_.end() ? 0 : found->second) >= at_least;
  });
}

void ScriptedEngine::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_, &one, sizeof(one));
}

RefusingPort::RefusingPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  port_ = BindLoopback(fd_, 0);  // bound, never listening: nobody else gets it, and it refuses
}

RefusingPort::~RefusingPort() { ::close(fd_); }

std::string RefusingPort::uri() const { return LoopbackUri(port_); }

}  // namespace sluice::testing
