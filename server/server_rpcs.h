#ifndef SLUICE_SERVER_SERVER_RPCS_H_
#define SLUICE_SERVER_SERVER_RPCS_H_

#include <functional>
#include <utility>

#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "server/audit.h"
#include "server/caller.h"
#include "server/data_plane.h"
#include "server/drain_stream.h"
#include "sluice/control/v1/control_service.pb.h"

namespace sluice::server {

/// The calls about the whole server; their contract is in the proto. Thread-safe. What it is given
/// must outlive it.
class ServerRpcs {
 public:
  /// `on_drain` runs when a drain begins; it may run again.
  ServerRpcs(const Clock& clock, DataPlane& data_plane, AuditLog& audit,
             std::function<void()> on_drain)
      : clock_(clock), data_plane_(data_plane), audit_(audit), on_drain_(std::move(on_drain)) {}

  /// Begins the drain, and plans the stream that tells of it.
  grpc::Status Drain(const Caller& caller, const control::v1::DrainServerRequest& request,
                     DrainPlan* plan);

 private:
  const Clock& clock_;
  DataPlane& data_plane_;
  AuditLog& audit_;
  const std::function<void()> on_drain_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_SERVER_RPCS_H_
