#include "server/server_rpcs.h"

#include "server/rpc_field.h"

namespace sluice::server {

namespace pb = ::sluice::control::v1;

grpc::Status ServerRpcs::Drain(const Caller& caller, const pb::DrainServerRequest& request,
                               DrainPlan* plan) {
  if (grpc::Status status = CheckReason(request.reason()); !status.ok()) return status;
  if (grpc::Status status = DrainDeadline(
          clock_.Now(), request.has_timeout() ? &request.timeout() : nullptr, &plan->deadline);
      !status.ok()) {
    return status;
  }
  plan->remaining = [this] { return status_.in_flight(); };
  plan->concerns = [](const ExchangeView&) { return true; };
  plan->cancel = request.cancel();
  plan->detail = WhoAndWhy(caller, request.reason());
  audit_.Write(caller, "drain server",
               {{"outcome", "OK"}, {"reason", request.reason()}, {"cancel", request.cancel()}});
  on_drain_();
  status_.Drain();
  return grpc::Status::OK;
}

}  // namespace sluice::server
