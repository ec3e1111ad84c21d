#include "server/endpoint_rpcs.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "lib/base/display_text.h"
#include "lib/events/event.h"
#include "server/rpc_error.h"
#include "server/rpc_field.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using upstream::EndpointTable;

constexpr size_t kMaxNameBytes = 256;

/// `uri` is empty when the endpoint is not in the configuration.
pb::EndpointStatus StatusOf(const EndpointTable::Reading& reading, const std::string& uri) {
  pb::EndpointStatus status;
  status.set_name(reading.name);
  status.set_uri(uri);
  status.set_state(uri.empty()          ? pb::EndpointStatus::STATE_REMOVED
                   : reading.draining() ? pb::EndpointStatus::STATE_DRAINING
                                        : pb::EndpointStatus::STATE_ACTIVE);
  status.set_in_flight(reading.in_flight);
  status.set_attempts(reading.attempts);
  status.set_failed_attempts(reading.failed_attempts);
  return status;
}

/// "chat" of "pools/chat/endpoints/a"; "" of anything else.
std::string PoolOf(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  return parts.size() == 4 ? std::string(parts[1]) : "";
}

}  // namespace

grpc::Status EndpointRpcs::List(const pb::ListEndpointsRequest& request,
                                pb::ListEndpointsResponse* response) const {
  const auto snapshot = config_.Current();
  const std::string& wanted = request.pool();
  std::set<std::string> configured;
  for (const config::Pool& pool : snapshot->config().pools) {
    if (!wanted.empty() && pool.id != wanted) continue;
    for (const config::Endpoint& endpoint : pool.endpoints) {
      const std::string name = upstream::EndpointName(pool, endpoint);
      *response->add_endpoints() = StatusOf(endpoints_.Read(name), endpoint.uri);
      configured.insert(name);
    }
  }
  for (const EndpointTable::Reading& reading : endpoints_.ReadAll()) {
    const bool gone = reading.in_flight > 0 && configured.count(reading.name) == 0;
    if (gone && (wanted.empty() || PoolOf(reading.name) == wanted)) {
      *response->add_endpoints() = StatusOf(reading, "");
    }
  }
  if (!wanted.empty() && response->endpoints().empty() && snapshot->FindPool(wanted) == nullptr) {
    return RpcError(grpc::StatusCode::NOT_FOUND, "POOL_UNKNOWN",
                    absl::StrCat("there is no pool \"", wanted, "\""));
  }
  return grpc::Status::OK;
}

grpc::Status EndpointRpcs::Drain(const Caller& caller, const pb::DrainEndpointRequest& request,
                                 DrainPlan* plan) {
  const std::string& name = request.name();
  constexpr absl::string_view kAction = "drain endpoint";
  pb::EndpointStatus found;
  if (grpc::Status status = FindFor(caller, kAction, name, &found); !status.ok()) return status;
  if (grpc::Status status = CheckReason(request.reason()); !status.ok()) return status;
  if (grpc::Status status = DrainDeadline(
          clock_.Now(), request.has_timeout() ? &request.timeout() : nullptr, &plan->deadline);
      !status.ok()) {
    return status;
  }
  plan->remaining = [this, name] { return endpoints_.Read(name).in_flight; };
  plan->concerns = [name](const ExchangeView& view) { return view.endpoint_in_use() == name; };
  plan->cancel = request.cancel();
  plan->detail = WhoAndWhy(caller, request.reason());
  audit_.Write(caller, kAction,
               {{"endpoint", name},
                {"outcome", "OK"},
                {"reason", request.reason()},
                {"cancel", request.cancel()}});
  plan->on_end = [this, caller, name](const DrainEnd& end) {
    audit_.Write(caller, "end of drain endpoint",
                 {{"endpoint", name},
                  {"outcome", end.outcome},
                  {"remaining", end.remaining},
                  {"cancelled", end.cancelled}});
  };
  SetDraining(name, true, plan->detail);
  plan->goes_on = [this, name, turn = endpoints_.Read(name).drain_turn] {
    return endpoints_.Read(name).drain_turn == turn;
  };
  return grpc::Status::OK;
}

grpc::Status EndpointRpcs::Resume(const Caller& caller, const pb::ResumeEndpointRequest& request,
                                  pb::EndpointStatus* response) {
  constexpr absl::string_view kAction = "resume endpoint";
  if (grpc::Status status = FindFor(caller, kAction, request.name(), response); !status.ok()) {
    return status;
  }
  if (grpc::Status status = CheckReason(request.reason()); !status.ok()) return status;
  audit_.Write(caller, kAction,
               {{"endpoint", request.name()}, {"outcome", "OK"}, {"reason", request.reason()}});
  SetDraining(request.name(), false, WhoAndWhy(caller, request.reason()));
  return Find(request.name(), response);
}

grpc::Status EndpointRpcs::Find(const std::string& name, pb::EndpointStatus* status) const {
  const auto snapshot = config_.Current();
  if (const config::Pool* pool = snapshot->FindPool(PoolOf(name))) {
    for (const config::Endpoint& endpoint : pool->endpoints) {
      if (upstream::EndpointName(*pool, endpoint) != name) continue;
      *status = StatusOf(endpoints_.Read(name), endpoint.uri);
      return grpc::Status::OK;
    }
  }
  const EndpointTable::Reading reading = endpoints_.Read(name);
  if (reading.in_flight == 0) {
    return RpcError(grpc::StatusCode::NOT_FOUND, "ENDPOINT_UNKNOWN",
                    absl::StrCat("there is no endpoint \"", DisplayText(name, kMaxNameBytes),
                                 "\"; names are as in pools/chat/endpoints/a"));
  }
  *status = StatusOf(reading, "");
  return grpc::Status::OK;
}

grpc::Status EndpointRpcs::FindFor(const Caller& caller, absl::string_view action,
                                   const std::string& name, pb::EndpointStatus* status) {
  grpc::Status found = Find(name, status);
  if (found.error_code() == grpc::StatusCode::NOT_FOUND) {
    const std::string text = DisplayText(name, kMaxNameBytes);
    audit_.Write(caller, action, {{"endpoint", text}, {"outcome", "NOT_FOUND"}});
  }
  return found;
}

void EndpointRpcs::SetDraining(const std::string& name, bool draining, const std::string& detail) {
  if (!endpoints_.SetDraining(name, draining)) return;
  hub_.Publish(events::EventOfGateway(
      clock_.WallNow(),
      EndpointStateChanged{.pool = PoolOf(name),
                           .endpoint = name,
                           .state = draining ? EndpointStateChanged::State::kDraining
                                             : EndpointStateChanged::State::kActive,
                           .detail = detail}));
}

}  // namespace sluice::server
