#ifndef SLUICE_SERVER_CONTROL_SERVICE_H_
#define SLUICE_SERVER_CONTROL_SERVICE_H_

#include "absl/functional/function_ref.h"

#include "server/access.h"
#include "server/config_rpcs.h"
#include "server/drain_stream.h"
#include "server/endpoint_rpcs.h"
#include "server/exchange_rpcs.h"
#include "server/server_rpcs.h"
#include "sluice/control/v1/control_service.grpc.pb.h"

namespace sluice::server {

/// The operator's RPCs; their contract is in the proto. Admits the caller and leaves the rest to
/// the class that knows the subject. All it is given must outlive it.
class ControlService final : public control::v1::ControlService::CallbackService {
 public:
  struct Deps {
    const Access& access;
    ConfigRpcs& config;
    EndpointRpcs& endpoints;
    ExchangeRpcs& exchanges;
    ServerRpcs& server;
    StreamDeps streams;
  };
  explicit ControlService(const Deps& deps) : deps_(deps) {}

  grpc::ServerUnaryReactor* GetConfig(grpc::CallbackServerContext* context,
                                      const control::v1::GetConfigRequest* request,
                                      control::v1::Config* response) override;
  grpc::ServerUnaryReactor* ValidateConfig(grpc::CallbackServerContext* context,
                                           const control::v1::ValidateConfigRequest* request,
                                           control::v1::ValidateConfigResponse* response) override;
  grpc::ServerUnaryReactor* PlanConfig(grpc::CallbackServerContext* context,
                                       const control::v1::PlanConfigRequest* request,
                                       control::v1::PlanConfigResponse* response) override;
  grpc::ServerUnaryReactor* UpdateConfig(grpc::CallbackServerContext* context,
                                         const control::v1::UpdateConfigRequest* request,
                                         control::v1::Config* response) override;
  grpc::ServerUnaryReactor* ListConfigVersions(
      grpc::CallbackServerContext* context, const control::v1::ListConfigVersionsRequest* request,
      control::v1::ListConfigVersionsResponse* response) override;
  grpc::ServerUnaryReactor* RollbackConfig(grpc::CallbackServerContext* context,
                                           const control::v1::RollbackConfigRequest* request,
                                           control::v1::Config* response) override;
  grpc::ServerUnaryReactor* AddEndpoint(grpc::CallbackServerContext* context,
                                        const control::v1::AddEndpointRequest* request,
                                        control::v1::Config* response) override;
  grpc::ServerUnaryReactor* UpdateEndpoint(grpc::CallbackServerContext* context,
                                           const control::v1::UpdateEndpointRequest* request,
                                           control::v1::Config* response) override;
  grpc::ServerUnaryReactor* RemoveEndpoint(grpc::CallbackServerContext* context,
                                           const control::v1::RemoveEndpointRequest* request,
                                           control::v1::Config* response) override;
  grpc::ServerWriteReactor<control::v1::DrainProgress>* DrainEndpoint(
      grpc::CallbackServerContext* context,
      const control::v1::DrainEndpointRequest* request) override;
  grpc::ServerUnaryReactor* ResumeEndpoint(grpc::CallbackServerContext* context,
                                           const control::v1::ResumeEndpointRequest* request,
                                           control::v1::EndpointStatus* response) override;
  grpc::ServerUnaryReactor* CancelExchange(grpc::CallbackServerContext* context,
                                           const control::v1::CancelExchangeRequest* request,
                                           control::v1::Exchange* response) override;
  grpc::ServerWriteReactor<control::v1::DrainProgress>* DrainServer(
      grpc::CallbackServerContext* context,
      const control::v1::DrainServerRequest* request) override;

 private:
  /// Ends the call with what `call` returns, if the caller is an operator.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, absl::string_view rpc,
                                   absl::FunctionRef<grpc::Status(const Caller&)> call);

  /// Starts the drain that `plan` makes, if the caller is an operator.
  grpc::ServerWriteReactor<control::v1::DrainProgress>* StartDrain(
      grpc::CallbackServerContext* context, absl::string_view rpc,
      absl::FunctionRef<grpc::Status(const Caller&, DrainPlan*)> plan);

  const Deps deps_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONTROL_SERVICE_H_
