#include "server/config_edit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "lib/base/display_text.h"
#include "server/config_convert.h"
#include "server/pool_convert.h"
#include "server/rpc_error.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using config::Violation;

constexpr size_t kMaxNameBytes = 160;  // a valid name has at most 143

std::vector<std::string> PopulatedFields(const pb::Config& proto) {
  std::vector<std::string> paths;
  if (proto.pools_size() > 0) paths.push_back("pools");
  if (proto.routes_size() > 0) paths.push_back("routes");
  if (proto.has_limits()) paths.push_back("limits");
  if (proto.principals_size() > 0) paths.push_back("principals");
  return paths;
}

template <typename Named>
auto FindById(std::vector<Named>& all, const std::string& id) {
  return std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.id == id; });
}

grpc::Status PoolNotFound(const std::string& pool) {
  return RpcError(grpc::StatusCode::NOT_FOUND, "POOL_NOT_FOUND",
                  absl::StrCat("there is no pool ", DisplayText(pool, kMaxNameBytes)));
}

grpc::Status EndpointNotFound(absl::string_view name) {
  return RpcError(grpc::StatusCode::NOT_FOUND, "ENDPOINT_NOT_FOUND",
                  absl::StrCat("there is no endpoint ", DisplayText(name, kMaxNameBytes),
                               "; a name is like pools/chat/endpoints/a"));
}

}  // namespace

config::Config ParseWhole(const pb::Config& proto, std::vector<Violation>* violations) {
  config::Config config = FromProto(proto, violations);
  if (!proto.name().empty() && proto.name() != "config") {
    violations->push_back({"name", "must be \"config\" or empty"});
  }
  return config;
}

grpc::Status ReplaceFields(const pb::Config& proto, const google::protobuf::FieldMask* mask,
                           config::Config* config, std::vector<Violation>* violations) {
  const config::Config wanted = ParseWhole(proto, violations);
  const std::vector<std::string> paths =
      mask == nullptr ? PopulatedFields(proto)
                      : std::vector<std::string>(mask->paths().begin(), mask->paths().end());
  std::vector<Violation> mask_violations;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] == "*") {
      *config = wanted;
    } else if (paths[i] == "pools") {
      config->pools = wanted.pools;
    } else if (paths[i] == "routes") {
      config->routes = wanted.routes;
    } else if (paths[i] == "limits") {
      config->limits = wanted.limits;
    } else if (paths[i] == "principals") {
      config->principals = wanted.principals;
    } else {
      mask_violations.push_back(
          {absl::StrCat("update_mask.paths[", i, "]"),
           absl::StrCat("\"", paths[i], "\" is none of pools, routes, principals, limits, *")});
    }
  }
  return mask_violations.empty() ? grpc::Status::OK
                                 : InvalidRequest("FIELD_MASK_INVALID", mask_violations);
}

std::string EndpointName(absl::string_view pool, absl::string_view endpoint) {
  return DisplayText(absl::StrCat("pools/", pool, "/endpoints/", endpoint), kMaxNameBytes);
}

grpc::Status AddEndpoint(const std::string& pool, config::Endpoint endpoint,
                         config::Config* config) {
  const auto found = FindById(config->pools, pool);
  if (found == config->pools.end()) return PoolNotFound(pool);
  if (FindById(found->endpoints, endpoint.id) != found->endpoints.end()) {
    return RpcError(
        grpc::StatusCode::ALREADY_EXISTS, "ENDPOINT_EXISTS",
        absl::StrCat("there is an endpoint ", EndpointName(pool, endpoint.id), " already"));
  }
  found->endpoints.push_back(std::move(endpoint));
  return grpc::Status::OK;
}

grpc::Status UpdateEndpoint(const std::string& pool, config::Endpoint endpoint,
                            config::Config* config) {
  const auto found = FindById(config->pools, pool);
  if (found == config->pools.end()) return EndpointNotFound(EndpointName(pool, endpoint.id));
  const auto old = FindById(found->endpoints, endpoint.id);
  if (old == found->endpoints.end()) return EndpointNotFound(EndpointName(pool, endpoint.id));
  *old = std::move(endpoint);
  return grpc::Status::OK;
}

grpc::Status RemoveEndpoint(absl::string_view name, config::Config* config) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4 || parts[0] != "pools" || parts[2] != "endpoints") {
    return EndpointNotFound(name);
  }
  const auto pool = FindById(config->pools, parts[1]);
  if (pool == config->pools.end()) return EndpointNotFound(name);
  const auto removed =
      std::erase_if(pool->endpoints, [&](const auto& endpoint) { return endpoint.id == parts[3]; });
  return removed == 0 ? EndpointNotFound(name) : grpc::Status::OK;
}

}  // namespace sluice::server
