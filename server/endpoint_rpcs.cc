#include "server/endpoint_rpcs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "lib/base/display_text.h"
#include "lib/events/event.h"
#include "server/endpoint_convert.h"
#include "server/rpc_error.h"
#include "server/rpc_field.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using upstream::EndpointTable;

constexpr size_t kMaxNameBytes = 256;

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
  std::map<std::string, EndpointTable::Reading> readings;
  for (EndpointTable::Reading& reading : endpoints_.ReadAll()) {
    readings.emplace(reading.name, std::move(reading));
  }
  for (const config::Pool& pool : snapshot->config().pools) {
    if (!wanted.empty() && pool.id != wanted) continue;
    *response->add_pools() = StatusOf(*snapshot, pool);
    for (const upstream::Member& member : endpoints_.Members(*snapshot, pool)->all) {
      auto found = readings.extract(member.state->name);
      *response->add_endpoints() = ToProto(
          found.empty() ? EndpointTable::Reading{.name = member.state->name} : found.mapped(),
          member.endpoint->uri);
    }
  }
  for (const auto& [name, reading] : readings) {
    if (reading.in_flight > 0 && (wanted.empty() || PoolOf(name) == wanted)) {
      *response->add_endpoints() = ToProto(reading, "");
    }
  }
  if (!wanted.empty() && response->endpoints().empty() && snapshot->FindPool(wanted) == nullptr) {
    return RpcError(grpc::StatusCode::NOT_FOUND, "POOL_UNKNOWN",
                    absl::StrCat("there is no pool \"", wanted, "\""));
  }
  return grpc::Status::OK;
}

pb::PoolStatus EndpointRpcs::StatusOf(const config::Snapshot& snapshot,
                                      const config::Pool& pool) const {
  pb::PoolStatus status;
  status.set_id(pool.id);
  status.set_in_flight(pools_.gate.pools.Read(pool.id));
  status.set_waiting(static_cast<int64_t>(pools_.gate.queues.Depth(pool.id)));
  status.set_retry_tokens(pools_.retry_budgets.Read(pool));
  for (const upstream::KeyRing::Reading& key : pools_.keys.Read(snapshot, pool)) {
    *status.add_keys() = ToProto(key);
  }
  return status;
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
  plan->concerns = [name](const ExchangeView& view) {
    const std::vector<absl::string_view> in_use = view.endpoints_in_use();
    // Of an endpoint whose name is looked up, each address has a name of its own.
    return std::any_of(in_use.begin(), in_use.end(), [&name](absl::string_view used) {
      return absl::ConsumePrefix(&used, name) && (used.empty() || used.front() == '@');
    });
  };
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
      *status = ToProto(endpoints_.Read(name), endpoint.uri);
      return grpc::Status::OK;
    }
  }
  const EndpointTable::Reading reading = endpoints_.Read(name);
  if (reading.in_flight == 0) {
    return RpcError(grpc::StatusCode::NOT_FOUND, "ENDPOINT_UNKNOWN",
                    absl::StrCat("there is no endpoint \"", DisplayText(name, kMaxNameBytes),
                                 "\"; names are as in pools/chat/endpoints/a"));
  }
  *status = ToProto(reading, "");
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
