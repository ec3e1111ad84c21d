#include "server/control_service.h"

#include <memory>
#include <utility>

namespace sluice::server {

namespace pb = ::sluice::control::v1;

grpc::ServerUnaryReactor* ControlService::GetConfig(grpc::CallbackServerContext* context,
                                                    const pb::GetConfigRequest* request,
                                                    pb::Config* response) {
  return Answer(context, __func__,
                [&](const Caller&) { return deps_.config.Get(*request, response); });
}

grpc::ServerUnaryReactor* ControlService::ValidateConfig(grpc::CallbackServerContext* context,
                                                         const pb::ValidateConfigRequest* request,
                                                         pb::ValidateConfigResponse* response) {
  return Answer(context, __func__,
                [&](const Caller&) { return deps_.config.Validate(*request, response); });
}

grpc::ServerUnaryReactor* ControlService::PlanConfig(grpc::CallbackServerContext* context,
                                                     const pb::PlanConfigRequest* request,
                                                     pb::PlanConfigResponse* response) {
  return Answer(context, __func__,
                [&](const Caller&) { return deps_.config.Plan(*request, response); });
}

grpc::ServerUnaryReactor* ControlService::UpdateConfig(grpc::CallbackServerContext* context,
                                                       const pb::UpdateConfigRequest* request,
                                                       pb::Config* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.config.Update(caller, *request, response);
  });
}

grpc::ServerUnaryReactor* ControlService::ListConfigVersions(
    grpc::CallbackServerContext* context, const pb::ListConfigVersionsRequest* request,
    pb::ListConfigVersionsResponse* response) {
  return Answer(context, __func__,
                [&](const Caller&) { return deps_.config.ListVersions(*request, response); });
}

grpc::ServerUnaryReactor* ControlService::RollbackConfig(grpc::CallbackServerContext* context,
                                                         const pb::RollbackConfigRequest* request,
                                                         pb::Config* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.config.Rollback(caller, *request, response);
  });
}

grpc::ServerUnaryReactor* ControlService::AddEndpoint(grpc::CallbackServerContext* context,
                                                      const pb::AddEndpointRequest* request,
                                                      pb::Config* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.config.AddEndpoint(caller, *request, response);
  });
}

grpc::ServerUnaryReactor* ControlService::UpdateEndpoint(grpc::CallbackServerContext* context,
                                                         const pb::UpdateEndpointRequest* request,
                                                         pb::Config* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.config.UpdateEndpoint(caller, *request, response);
  });
}

grpc::ServerUnaryReactor* ControlService::RemoveEndpoint(grpc::CallbackServerContext* context,
                                                         const pb::RemoveEndpointRequest* request,
                                                         pb::Config* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.config.RemoveEndpoint(caller, *request, response);
  });
}

grpc::ServerWriteReactor<pb::DrainProgress>* ControlService::DrainEndpoint(
    grpc::CallbackServerContext* context, const pb::DrainEndpointRequest* request) {
  return StartDrain(context, __func__, [&](const Caller& caller, DrainPlan* plan) {
    return deps_.endpoints.Drain(caller, *request, plan);
  });
}

grpc::ServerUnaryReactor* ControlService::ResumeEndpoint(grpc::CallbackServerContext* context,
                                                         const pb::ResumeEndpointRequest* request,
                                                         pb::EndpointStatus* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.endpoints.Resume(caller, *request, response);
  });
}

grpc::ServerUnaryReactor* ControlService::CancelExchange(grpc::CallbackServerContext* context,
                                                         const pb::CancelExchangeRequest* request,
                                                         pb::Exchange* response) {
  return Answer(context, __func__, [&](const Caller& caller) {
    return deps_.exchanges.Cancel(caller, *request, response);
  });
}

grpc::ServerWriteReactor<pb::DrainProgress>* ControlService::DrainServer(
    grpc::CallbackServerContext* context, const pb::DrainServerRequest* request) {
  return StartDrain(context, __func__, [&](const Caller& caller, DrainPlan* plan) {
    return deps_.server.Drain(caller, *request, plan);
  });
}

grpc::ServerWriteReactor<pb::DrainProgress>* ControlService::StartDrain(
    grpc::CallbackServerContext* context, absl::string_view rpc,
    absl::FunctionRef<grpc::Status(const Caller&, DrainPlan*)> plan) {
  Caller caller;
  const grpc::Status admitted = deps_.access.Admit(*context, rpc, Role::kOperator, &caller);
  if (!admitted.ok()) return new RefusedStream<pb::DrainProgress>(admitted);
  return StartStream<DrainStream>(deps_.streams, [&](std::shared_ptr<DrainStream>* stream) {
    DrainPlan planned;
    if (grpc::Status status = plan(caller, &planned); !status.ok()) return status;
    *stream = std::make_shared<DrainStream>(context, deps_.streams, std::move(planned));
    return grpc::Status::OK;
  });
}

grpc::ServerUnaryReactor* ControlService::Answer(
    grpc::CallbackServerContext* context, absl::string_view rpc,
    absl::FunctionRef<grpc::Status(const Caller&)> call) {
  Caller caller;
  grpc::Status status = deps_.access.Admit(*context, rpc, Role::kOperator, &caller);
  if (status.ok()) status = call(caller);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace sluice::server
