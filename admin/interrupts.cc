#include "admin/interrupts.h"

#include <array>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace sluice::admin {
namespace {

sigset_t EndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

Interrupts::Interrupts() {
  signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = EndSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  ended_ = ::eventfd(0, EFD_CLOEXEC);
  watcher_ = std::thread([this] { Watch(); });
}

Interrupts::~Interrupts() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(ended_, &one, sizeof(one));
  watcher_.join();
  ::close(signals_);
  ::close(ended_);
}

void Interrupts::Watch() {
  std::array<pollfd, 3> waits = {
      {{.fd = ended_, .events = POLLIN, .revents = 0},
       {.fd = signals_, .events = POLLIN, .revents = 0},
       // No events asked for: only POLLERR, when a pipe has lost its reader.
       {.fd = STDOUT_FILENO, .events = 0, .revents = 0}}};
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) return;
    if (waits[1].revents != 0) {
      signalfd_siginfo ignored;
      [[maybe_unused]] const ssize_t n = ::read(signals_, &ignored, sizeof(ignored));
      if (paused_) continue;
      if (source_.stop_requested()) ::_exit(128 + SIGINT);
    }
    if (waits[2].revents != 0) waits[2].fd = -1;  // said once
    source_.request_stop();
  }
}

}  // namespace sluice::admin
