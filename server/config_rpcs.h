#ifndef SLUICE_SERVER_CONFIG_RPCS_H_
#define SLUICE_SERVER_CONFIG_RPCS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "grpcpp/support/status.h"

#include "lib/config/store.h"
#include "server/audit.h"
#include "server/caller.h"
#include "server/data_plane.h"
#include "sluice/control/v1/control_service.pb.h"

namespace sluice::server {

/// The calls about the configuration; their contract is in the proto. Each attempt to change it is
/// in the audit log. They may block on the disk: keys are read and versions stored. Thread-safe.
class ConfigRpcs {
 public:
  /// All must outlive it.
  ConfigRpcs(config::Store& store, const DataPlane& data_plane, AuditLog& audit)
      : store_(store), data_plane_(data_plane), audit_(audit) {}

  grpc::Status Get(const control::v1::GetConfigRequest& request,
                   control::v1::Config* response) const;
  grpc::Status Validate(const control::v1::ValidateConfigRequest& request,
                        control::v1::ValidateConfigResponse* response) const;
  grpc::Status Plan(const control::v1::PlanConfigRequest& request,
                    control::v1::PlanConfigResponse* response) const;
  grpc::Status ListVersions(const control::v1::ListConfigVersionsRequest& request,
                            control::v1::ListConfigVersionsResponse* response) const;

  grpc::Status Update(const Caller& caller, const control::v1::UpdateConfigRequest& request,
                      control::v1::Config* response);
  grpc::Status Rollback(const Caller& caller, const control::v1::RollbackConfigRequest& request,
                        control::v1::Config* response);
  grpc::Status AddEndpoint(const Caller& caller, const control::v1::AddEndpointRequest& request,
                           control::v1::Config* response);
  grpc::Status UpdateEndpoint(const Caller& caller,
                              const control::v1::UpdateEndpointRequest& request,
                              control::v1::Config* response);
  grpc::Status RemoveEndpoint(const Caller& caller,
                              const control::v1::RemoveEndpointRequest& request,
                              control::v1::Config* response);

 private:
  /// Turns the configuration in force into the one wanted, or says why that cannot be. Adds to
  /// `violations` what the plain structs cannot hold.
  using Edit =
      absl::FunctionRef<grpc::Status(config::Config*, std::vector<config::Violation>* violations)>;

  /// Applies `edit` as a new version of the origin `what`, under `etag`; under that of any version
  /// if it is empty.
  grpc::Status Change(const Caller& caller, const std::string& what, const std::string& etag,
                      Edit edit, control::v1::Config* response);
  grpc::Status TryChange(const Caller& caller, const std::string& what, const std::string& etag,
                         Edit edit, control::v1::Config* response);
  grpc::Status EtagMismatch() const;
  grpc::Status VersionNotFound(int64_t generation) const;

  config::Store& store_;
  const DataPlane& data_plane_;
  AuditLog& audit_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONFIG_RPCS_H_
