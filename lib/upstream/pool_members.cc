#include "lib/upstream/pool_members.h"

#include "absl/strings/str_cat.h"

#include "lib/exchange/endpoint_uri.h"

namespace sluice::upstream {
namespace {

EndpointUri UriOf(const config::Endpoint& endpoint) {
  return ParseEndpointUri(endpoint.uri).value();  // Validate has seen it
}

}  // namespace

std::string EndpointName(const config::Pool& pool, const config::Endpoint& endpoint) {
  return absl::StrCat("pools/", pool.id, "/endpoints/", endpoint.id);
}

std::set<std::string> HostsToResolve(const config::Config& config) {
  std::set<std::string> hosts;
  for (const config::Pool& pool : config.pools) {
    for (const config::Endpoint& endpoint : pool.endpoints) {
      if (endpoint.resolve) hosts.insert(UriOf(endpoint).host);
    }
  }
  return hosts;
}

PoolMembers::PoolMembers(const config::Pool& the_pool, const AddressBook& addresses,
                         StateOf state_of)
    : pool(the_pool) {
  for (const config::Endpoint& endpoint : pool.endpoints) {
    const UpstreamAddress address = {.uri = UriOf(endpoint), .ip = "", .tls = pool.tls};
    const std::string name = EndpointName(pool, endpoint);
    const auto found = endpoint.resolve ? addresses.find(address.uri.host) : addresses.end();
    resolves = resolves || endpoint.resolve;
    if (found == addresses.end()) {
      all.push_back({endpoint.id, &pool, &endpoint, state_of(name), address});
      continue;
    }
    for (const std::string& ip : found->second) {
      const std::shared_ptr<EndpointState> state = state_of(absl::StrCat(name, "@", ip));
      state->parent = state_of(name);
      state->host = address.uri.host;
      state->ip = ip;
      all.push_back({absl::StrCat(endpoint.id, "@", ip), &pool, &endpoint, state, address});
      all.back().address.ip = ip;
    }
  }
}

}  // namespace sluice::upstream
