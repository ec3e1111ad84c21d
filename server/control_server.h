#ifndef SLUICE_SERVER_CONTROL_SERVER_H_
#define SLUICE_SERVER_CONTROL_SERVER_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "lib/base/clock.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "lib/exchange/registry.h"
#include "lib/ledger/usage_totals.h"
#include "lib/upstream/endpoint_table.h"
#include "server/control_credentials.h"
#include "server/data_plane.h"
#include "server/endpoint_rpcs.h"

namespace sluice::server {

/// The gRPC server of the control plane: both services, health and reflection. It has its own
/// threads and meets the data plane only in what it is given. Publishes the store's changes to the
/// hub. Thread-safe.
class ControlServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:9090";  // "host:port" (port 0: any free one) or "unix:path"
    AccessOptions access = {};
    std::string audit_log = "";  // a file beside the log; "": none
    std::string version = "";
    int max_watchers = 64;
    Duration heartbeat = std::chrono::seconds(10);
    Duration watcher_write_limit = std::chrono::seconds(10);
  };
  /// All must outlive the server; the hub must outlive the store too, whose listener publishes to
  /// it.
  struct Deps {
    const Clock& clock;
    config::Store& config;
    events::Hub& hub;
    ExchangeRegistry& registry;
    upstream::EndpointTable& endpoints;
    PoolBooks pools;
    const ledger::UsageTotals& usage;
    DataPlane& data_plane;
  };

  /// Listens and serves. UNAVAILABLE: the address cannot be listened on. UNAUTHENTICATED: see
  /// Access::Open. Other codes: the audit log cannot be opened.
  static absl::StatusOr<std::unique_ptr<ControlServer>> Start(const Options& options,
                                                              const Deps& deps);
  /// Shuts down without grace, unless that was done.
  ~ControlServer();

  /// The port it listens on; 1 for a Unix socket.
  int port() const;

  /// Reads the files that say who may call again now.
  void Reload();
  /// gRPC's health says so from now on; calls are still served.
  void SetNotServing();
  /// Reports NOT_SERVING, closes the hub, gives watchers the events there are and ends them,
  /// refuses new calls; after `grace` cancels what is left. Returns when no call is left. May be
  /// repeated.
  void Shutdown(Duration grace);

 private:
  struct Impl;
  explicit ControlServer(std::unique_ptr<Impl> impl);
  /// On a thread whose priority the server takes over.
  static absl::StatusOr<std::unique_ptr<ControlServer>> StartHere(const Options& options,
                                                                  const Deps& deps);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONTROL_SERVER_H_
