#include "server/probe_runner.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <utility>

namespace sluice::server {
namespace {

/// How late a change of the configuration may be seen.
constexpr Duration kLongestSleep = std::chrono::milliseconds(250);
constexpr Duration kShortestSleep = std::chrono::milliseconds(10);

}  // namespace

ProbeRunner::ProbeRunner(upstream::Prober& prober, const config::Store& store, Transport& transport,
                         const Clock& clock, runtime::Loop& loop)
    : prober_(prober),
      store_(store),
      transport_(transport),
      clock_(clock),
      loop_(loop),
      thread_([this] { Run(); }) {}

ProbeRunner::~ProbeRunner() {
  if (thread_.joinable()) Stop();
}

void ProbeRunner::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  stopped_.NotifyAll();
  thread_.join();
  loop_.Post([this] {
    ended_ = true;
    for (const runtime::Interrupter& probe : running_) probe.Fire();
  });
}

void ProbeRunner::Run() {
  pthread_setname_np(pthread_self(), "probes");
  while (true) {
    for (upstream::ProbeJob& job : prober_.TakeDue(*store_.Current())) {
      loop_.Post([this, job = std::move(job)]() mutable { Begin(std::move(job)); });
    }
    const Instant now = clock_.Now();
    const Duration sleep =
        std::clamp(prober_.NextAt() == kNever ? kLongestSleep : Duration(prober_.NextAt() - now),
                   kShortestSleep, kLongestSleep);
    MutexLock lock(&mutex_);
    const auto stopping = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_; };
    if (stopped_.WaitFor(&mutex_, sleep, stopping)) return;
  }
}

void ProbeRunner::Begin(upstream::ProbeJob job) {
  fibers_.fetch_add(1, std::memory_order_relaxed);
  const bool spawned = !ended_ && loop_.Spawn([this, job] {
    const auto place = running_.insert(running_.end(), runtime::Interrupter::Arm());
    const upstream::ProbeResult result = upstream::RunProbe(transport_, clock_, job);
    running_.erase(place);
    // What was cut off by the end of the gateway says nothing, and nobody asks any more.
    if (!ended_) prober_.See(job, result);
    fibers_.fetch_sub(1, std::memory_order_relaxed);
  });
  if (!spawned) fibers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sluice::server
