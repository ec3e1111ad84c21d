#ifndef SLUICE_LIB_UPSTREAM_POOL_MEMBERS_H_
#define SLUICE_LIB_UPSTREAM_POOL_MEMBERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "lib/config/config.h"
#include "lib/exchange/upstream_address.h"
#include "lib/upstream/endpoint_state.h"

namespace sluice::upstream {

/// "pools/chat/endpoints/a": names an endpoint in records, events and the control API.
std::string EndpointName(const config::Pool& pool, const config::Endpoint& endpoint);

/// What names were found at, by name.
using AddressBook = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The names to look up for the endpoints of `config` that say `resolve`.
std::set<std::string> HostsToResolve(const config::Config& config);

/// One that attempts of a pool can be made at: an endpoint, or one address of it.
struct Member {
  std::string id;  // "a", or "a@10.0.0.1"
  const config::Pool* pool;
  const config::Endpoint* endpoint;
  std::shared_ptr<EndpointState> state;
  UpstreamAddress address;
};

/// The members of a pool as one configuration and one answer of DNS make them. Immutable but for
/// the states, and complete in itself.
struct PoolMembers {
  PoolMembers(const PoolMembers&) = delete;
  PoolMembers& operator=(const PoolMembers&) = delete;
  /// Gives the state of that name, new or old.
  using StateOf = absl::FunctionRef<std::shared_ptr<EndpointState>(absl::string_view name)>;
  /// `the_pool` must have passed Validate.
  PoolMembers(const config::Pool& the_pool, const AddressBook& addresses, StateOf state_of);

  const config::Pool pool;
  bool resolves = false;  // some depend on the addresses
  std::vector<Member> all;
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_POOL_MEMBERS_H_
