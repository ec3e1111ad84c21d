#ifndef SLUICE_SERVER_CONTROL_SERVICE_H_
#define SLUICE_SERVER_CONTROL_SERVICE_H_

#include "lib/config/store.h"
#include "sluice/control/v1/control_service.grpc.pb.h"

namespace sluice::server {

/// The operator's RPCs; their contract is in the proto. No call waits for anything but the store's
/// mutex. `store` must outlive it.
class ControlService final : public control::v1::ControlService::CallbackService {
 public:
  explicit ControlService(config::Store& store) : store_(store) {}

  grpc::ServerUnaryReactor* GetConfig(grpc::CallbackServerContext* context,
                                      const control::v1::GetConfigRequest* request,
                                      control::v1::Config* response) override;
  grpc::ServerUnaryReactor* UpdateConfig(grpc::CallbackServerContext* context,
                                         const control::v1::UpdateConfigRequest* request,
                                         control::v1::Config* response) override;

 private:
  grpc::Status Update(const control::v1::UpdateConfigRequest& request,
                      control::v1::Config* response);

  config::Store& store_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONTROL_SERVICE_H_
