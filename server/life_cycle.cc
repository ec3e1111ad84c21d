#include "server/life_cycle.h"

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/log.h"

namespace sluice::server {
namespace {

/// How soon it is noticed that nothing runs any more.
constexpr Duration kTick = std::chrono::milliseconds(20);
/// For clients that connected while the last exchange ended: to be told to go elsewhere.
constexpr Duration kLastAnswers = std::chrono::seconds(1);

Instant Now() { return SystemClock().Now(); }

int OpenSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return ::signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

LifeCycle::LifeCycle(const Options& options) : options_(options), signals_(OpenSignals()) {}

LifeCycle::~LifeCycle() { ::close(signals_); }

void LifeCycle::Run(Gateway& gateway) {
  supervisor_.TellReady();
  while (AwaitSignal(kNever) == SIGHUP) Reload(gateway);
  End(gateway);
}

int LifeCycle::AwaitSignal(Instant deadline) {
  pollfd readable{.fd = signals_, .events = POLLIN, .revents = 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Now());
    const auto timeout = std::clamp<int64_t>(left.count(), 0, 60'000);
    signalfd_siginfo signal{};
    if (::poll(&readable, 1, static_cast<int>(timeout)) > 0 &&
        ::read(signals_, &signal, sizeof signal) == sizeof signal) {
      return static_cast<int>(signal.ssi_signo);
    }
    if (Now() >= deadline) return 0;
  }
}

bool LifeCycle::Wait(Instant deadline, const std::function<bool()>& done) {
  while (!done() && Now() < deadline) {
    const int signal = AwaitSignal(std::min(deadline, Now() + kTick));
    if (signal == SIGTERM || signal == SIGINT) return false;
  }
  return true;
}

void LifeCycle::Reload(Gateway& gateway) {
  supervisor_.TellReloading();
  gateway.Reload();
  supervisor_.TellReady();
}

void LifeCycle::End(Gateway& gateway) {
  const Instant deadline = DeadlineAfter(Now(), options_.drain);
  const Instant grace_end = std::min(deadline, DeadlineAfter(Now(), options_.drain_grace));
  supervisor_.TellStopping();
  Log(LogLevel::kInfo, "draining", {{"in_flight", gateway.in_flight()}});
  gateway.AnnounceEnd();
  bool patient = Wait(grace_end, [] { return false; });
  gateway.Drain();
  const auto drained = [&] { return gateway.undrained() == 0; };
  patient = patient && Wait(deadline, drained);
  gateway.StopAccepting();
  if (patient && drained()) {
    patient = Wait(Now() + kLastAnswers, [&] { return gateway.idle(); });
  }
  if (!patient) Log(LogLevel::kWarning, "second signal: not waiting any longer");
  Log(LogLevel::kInfo, "stopping", {{"in_flight", gateway.in_flight()}});
}

}  // namespace sluice::server
