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
  plan->goes_on = [] { return true; };
  plan->remaining = [this] { return data_plane_.undrained(); };
  plan->concerns = [](const ExchangeView&) { return true; };
  plan->cancel = request.cancel();
  plan->detail = WhoAndWhy(caller, request.reason());
  plan->on_end = [this, caller](const DrainEnd& end) {
    audit_.Write(
        caller, "end of drain server",
        {{"outcome", end.outcome}, {"remaining", end.remaining}, {"cancelled", end.cancelled}});
  };
  audit_.Write(caller, "drain server",
               {{"outcome", "OK"}, {"reason", request.reason()}, {"cancel", request.cancel()}});
  on_drain_();
  data_plane_.Drain();
  return grpc::Status::OK;
}

}  // namespace sluice::server
