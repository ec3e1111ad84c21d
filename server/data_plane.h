#ifndef SLUICE_SERVER_DATA_PLANE_H_
#define SLUICE_SERVER_DATA_PLANE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

namespace sluice::server {

/// What the control plane asks the data plane for. Thread-safe, does not block.
class DataPlane {
 public:
  virtual ~DataPlane() = default;
  /// Exchanges that have started and not finished.
  virtual int64_t in_flight() const = 0;
  /// Exchanges that have started since the process did.
  virtual int64_t accepted() const = 0;
  /// Whether a drain has begun.
  virtual bool draining() const = 0;
  /// Exchanges in flight by the generation of the configuration they hold, the latest first.
  virtual std::map<uint64_t, int64_t, std::greater<>> in_flight_by_generation() const = 0;

  /// What the data plane's parts hold, by their own books.
  struct Resources {
    size_t client_connections = 0;
    size_t admin_connections = 0;
    size_t listeners = 0;
    size_t sockets = 0;               // on event loops, of every kind
    size_t fibers = 0;                // on event loops
    size_t upstream_connections = 0;  // that are open, or about to be
    size_t pooled_connections = 0;    // of these, idle
    size_t upstream_fibers = 0;       // of pools of connections, probes and hedged attempts
  };
  virtual Resources resources() const = 0;

  /// Begins the drain of the data plane; see Gateway::Drain.
  virtual void Drain() = 0;
  /// How many a drain waits for: exchanges that run, and requests that had begun to come before.
  virtual int64_t undrained() const = 0;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_DATA_PLANE_H_
