#ifndef SLUICE_SERVER_LEAK_CHECK_H_
#define SLUICE_SERVER_LEAK_CHECK_H_

#include "lib/exchange/registry.h"
#include "lib/upstream/endpoint_table.h"
#include "server/data_plane.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::server {

/// What CheckLeaks compares. Thread-safe. What it is given must outlive it.
class LeakCheck {
 public:
  /// `control_port`: the control plane's own sockets are not counted.
  LeakCheck(const ExchangeRegistry& registry, const upstream::EndpointTable& endpoints,
            const DataPlane& data_plane, const int& control_port)
      : registry_(registry),
        endpoints_(endpoints),
        data_plane_(data_plane),
        control_port_(control_port) {}

  /// Fills an empty message.
  void Read(control::v1::CheckLeaksResponse* response) const;

 private:
  const ExchangeRegistry& registry_;
  const upstream::EndpointTable& endpoints_;
  const DataPlane& data_plane_;
  const int& control_port_;
};

/// The TCP sockets this process has open, but for those whose local port is `but_port`.
int64_t CountTcpSockets(int but_port);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_LEAK_CHECK_H_
