#ifndef SLUICE_SERVER_STATUS_SOURCE_H_
#define SLUICE_SERVER_STATUS_SOURCE_H_

#include <cstdint>

namespace sluice::server {

/// What the control plane asks the data plane for. Thread-safe, does not block.
class StatusSource {
 public:
  virtual ~StatusSource() = default;
  /// Exchanges that have started and not finished.
  virtual int64_t in_flight() const = 0;
  /// Exchanges that have started since the process did.
  virtual int64_t accepted() const = 0;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_STATUS_SOURCE_H_
