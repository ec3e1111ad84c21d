#ifndef SLUICE_SERVER_PROBE_RUNNER_H_
#define SLUICE_SERVER_PROBE_RUNNER_H_

#include <atomic>
#include <cstddef>
#include <list>
#include <thread>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/config/store.h"
#include "lib/exchange/seams.h"
#include "lib/runtime/loop.h"
#include "lib/upstream/prober.h"

namespace sluice::server {

/// Runs a prober's probes, each on a fiber of one event loop; a thread of its own tells when.
class ProbeRunner {
 public:
  /// All of them outlive it.
  ProbeRunner(upstream::Prober& prober, const config::Store& store, Transport& transport,
              const Clock& clock, runtime::Loop& loop);
  ~ProbeRunner();

  /// Begins no more, and ends what runs. While the loop is there; once.
  void Stop();

  /// Probes that run. Thread-safe.
  size_t fibers() const { return fibers_.load(std::memory_order_relaxed); }

 private:
  void Run();
  /// On the loop.
  void Begin(upstream::ProbeJob job);

  upstream::Prober& prober_;
  const config::Store& store_;
  Transport& transport_;
  const Clock& clock_;
  runtime::Loop& loop_;
  std::atomic<size_t> fibers_{0};
  std::list<runtime::Interrupter> running_;  // on the loop
  bool ended_ = false;                       // on the loop
  Mutex mutex_;
  CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_PROBE_RUNNER_H_
