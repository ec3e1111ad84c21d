#ifndef SLUICE_SERVER_LIFE_CYCLE_H_
#define SLUICE_SERVER_LIFE_CYCLE_H_

#include <functional>

#include "lib/base/clock.h"
#include "server/gateway.h"
#include "server/supervisor.h"

namespace sluice::server {

/// How a running gateway ends, and what else signals do:
///
///   SIGTERM, SIGINT   announce the end; after `drain_grace`, drain; when nothing runs any more, or
///                     `drain` after the signal, end. A second one ends at once
///   SIGHUP            reads keys and certificates again
///
/// Confined to the main thread.
class LifeCycle {
 public:
  struct Options {
    Duration drain;        // how long running exchanges may go on
    Duration drain_grace;  // of it, how long new ones are still taken
  };

  /// Blocks the signals, in the threads too that are started from now on.
  explicit LifeCycle(const Options& options);
  ~LifeCycle();
  LifeCycle(const LifeCycle&) = delete;
  LifeCycle& operator=(const LifeCycle&) = delete;

  /// Returns when the gateway is to be destroyed.
  void Run(Gateway& gateway);

 private:
  /// The next signal, or 0 at `deadline`.
  int AwaitSignal(Instant deadline);
  /// Waits until `done` holds or `deadline`. False: a signal says not to wait for anything.
  bool Wait(Instant deadline, const std::function<bool()>& done);
  void Reload(Gateway& gateway);
  void End(Gateway& gateway);

  const Options options_;
  const Supervisor supervisor_;
  const int signals_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_LIFE_CYCLE_H_
