#ifndef SLUICE_SERVER_ENDPOINT_RPCS_H_
#define SLUICE_SERVER_ENDPOINT_RPCS_H_

#include "grpcpp/support/status.h"

#include "lib/admission/gate.h"
#include "lib/base/clock.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "lib/upstream/retry_budget.h"
#include "server/audit.h"
#include "server/caller.h"
#include "server/drain_stream.h"
#include "sluice/control/v1/control_service.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::server {

/// What is counted by pool.
struct PoolBooks {
  const admission::Gate& gate;
  const upstream::KeyRing& keys;
  const upstream::RetryBudgets& retry_budgets;
};

/// The calls about endpoints as they run; their contract is in the proto. Thread-safe. What it is
/// given must outlive it.
class EndpointRpcs {
 public:
  EndpointRpcs(const Clock& clock, const config::Store& config, upstream::EndpointTable& endpoints,
               const PoolBooks& pools, events::Hub& hub, AuditLog& audit)
      : clock_(clock),
        config_(config),
        endpoints_(endpoints),
        pools_(pools),
        hub_(hub),
        audit_(audit) {}

  grpc::Status List(const control::v1::ListEndpointsRequest& request,
                    control::v1::ListEndpointsResponse* response) const;
  /// Begins the drain, and plans the stream that tells of it.
  grpc::Status Drain(const Caller& caller, const control::v1::DrainEndpointRequest& request,
                     DrainPlan* plan);
  grpc::Status Resume(const Caller& caller, const control::v1::ResumeEndpointRequest& request,
                      control::v1::EndpointStatus* response);

 private:
  control::v1::PoolStatus StatusOf(const config::Snapshot& snapshot,
                                   const config::Pool& pool) const;
  /// NOT_FOUND: there is no endpoint of that name, configured or in use.
  grpc::Status Find(const std::string& name, control::v1::EndpointStatus* status) const;
  /// As Find, for what `caller` is to do; that there is no such endpoint is audited.
  grpc::Status FindFor(const Caller& caller, absl::string_view action, const std::string& name,
                       control::v1::EndpointStatus* status);
  void SetDraining(const std::string& name, bool draining, const std::string& detail);

  const Clock& clock_;
  const config::Store& config_;
  upstream::EndpointTable& endpoints_;
  const PoolBooks pools_;
  events::Hub& hub_;
  AuditLog& audit_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_ENDPOINT_RPCS_H_
