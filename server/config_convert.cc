#include "server/config_convert.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

#include "server/pool_convert.h"
#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using config::Violation;
using server::FromProto;  // overloads of the enclosing namespace, which those below would hide
using server::ToProto;

/// What a value of an enum is in the proto. The first of a table is the default, which
/// `..._UNSPECIFIED` (0) means too.
template <typename Enum, typename ProtoEnum>
struct EnumRow {
  Enum value;
  ProtoEnum proto;
};

constexpr EnumRow<config::CommitPoint, pb::CommitPoint> kCommitPoints[] = {
    {config::CommitPoint::kFirstFrame, pb::COMMIT_POINT_FIRST_FRAME},
    {config::CommitPoint::kOnHead, pb::COMMIT_POINT_ON_HEAD}};
constexpr EnumRow<config::RelayMode, pb::RelayMode> kRelayModes[] = {
    {config::RelayMode::kIdentical, pb::RELAY_MODE_IDENTICAL},
    {config::RelayMode::kValidFrames, pb::RELAY_MODE_VALID_FRAMES}};
constexpr EnumRow<config::Credentials, pb::Credentials> kCredentials[] = {
    {config::Credentials::kReplace, pb::CREDENTIALS_REPLACE},
    {config::Credentials::kPassThrough, pb::CREDENTIALS_PASS_THROUGH}};
constexpr EnumRow<config::Balance, pb::Balance> kBalances[] = {
    {config::Balance::kRoundRobin, pb::BALANCE_ROUND_ROBIN},
    {config::Balance::kWeighted, pb::BALANCE_WEIGHTED},
    {config::Balance::kLeastOutstanding, pb::BALANCE_LEAST_OUTSTANDING},
    {config::Balance::kTwoChoices, pb::BALANCE_TWO_CHOICES},
    {config::Balance::kLatency, pb::BALANCE_LATENCY},
    {config::Balance::kConsistentHash, pb::BALANCE_CONSISTENT_HASH},
    {config::Balance::kPrefixAffinity, pb::BALANCE_PREFIX_AFFINITY}};
constexpr EnumRow<config::HashOn, pb::HashOn> kHashOns[] = {
    {config::HashOn::kConversation, pb::HASH_ON_CONVERSATION},
    {config::HashOn::kHeader, pb::HASH_ON_HEADER},
    {config::HashOn::kUser, pb::HASH_ON_USER}};

template <typename Enum, typename ProtoEnum, size_t kRows>
ProtoEnum ToProtoEnum(const EnumRow<Enum, ProtoEnum> (&table)[kRows], Enum value) {
  const auto row =
      std::find_if(std::begin(table), std::end(table),
                   [value](const EnumRow<Enum, ProtoEnum>& r) { return r.value == value; });
  return row == std::end(table) ? ProtoEnum() : row->proto;
}

/// Converts an enum field, or reports that its value is unknown and leaves `out` as it is.
template <typename Enum, typename ProtoEnum, size_t kRows>
void FromProtoEnum(const EnumRow<Enum, ProtoEnum> (&table)[kRows], ProtoEnum proto,
                   const std::string& path, Enum* out, std::vector<Violation>* violations) {
  if (proto == ProtoEnum()) return;
  const auto row =
      std::find_if(std::begin(table), std::end(table),
                   [proto](const EnumRow<Enum, ProtoEnum>& r) { return r.proto == proto; });
  if (row != std::end(table)) {
    *out = row->value;
  } else {
    violations->push_back(
        {path, absl::StrCat("does not know the value ", static_cast<int>(proto))});
  }
}

pb::Pool ToProto(const config::Pool& pool) {
  pb::Pool proto;
  proto.set_id(pool.id);
  for (const config::Endpoint& endpoint : pool.endpoints) {
    *proto.add_endpoints() = ToProto(endpoint);
  }
  *proto.mutable_timeouts() = ToProto(pool.timeouts);
  *proto.mutable_retry() = ToProto(pool.retry);
  *proto.mutable_hedge() = ToProto(pool.hedge);
  proto.set_commit_point(ToProtoEnum(kCommitPoints, pool.commit));
  proto.set_relay_mode(ToProtoEnum(kRelayModes, pool.relay));
  proto.set_credentials(ToProtoEnum(kCredentials, pool.credentials));
  for (const config::Key& key : pool.keys) {
    pb::Key* added = proto.add_keys();
    added->set_id(key.id);
    if (!key.env.empty()) added->set_env(key.env);
    if (!key.file.empty()) added->set_file(key.file);
  }
  proto.set_key_header(pool.key_header);
  proto.set_ask_usage(pool.ask_usage);
  proto.mutable_balancing()->set_policy(ToProtoEnum(kBalances, pool.balancing.policy));
  proto.mutable_balancing()->set_hash_on(ToProtoEnum(kHashOns, pool.balancing.hash_on));
  proto.mutable_balancing()->set_hash_header(pool.balancing.hash_header);
  proto.mutable_balancing()->set_load_factor(pool.balancing.load_factor);
  *proto.mutable_health() = ToProto(pool.health);
  if (!pool.probe.path.empty()) *proto.mutable_probe() = ToProto(pool.probe);
  proto.set_max_in_flight(pool.max_in_flight);
  *proto.mutable_queue() = ToProto(pool.queue);
  if (pool.tls != TlsOptions()) *proto.mutable_tls() = ToProto(pool.tls);
  proto.mutable_models()->Assign(pool.models.begin(), pool.models.end());
  return proto;
}

config::Pool FromProto(const pb::Pool& proto, const std::string& path,
                       std::vector<Violation>* violations) {
  config::Pool pool;
  pool.id = proto.id();
  for (const pb::Endpoint& endpoint : proto.endpoints()) {
    pool.endpoints.push_back(FromProto(endpoint));
  }
  pool.timeouts = FromProto(proto.timeouts());
  pool.retry = FromProto(proto.retry());
  pool.hedge = FromProto(proto.hedge());
  FromProtoEnum(kCommitPoints, proto.commit_point(), path + ".commit_point", &pool.commit,
                violations);
  FromProtoEnum(kRelayModes, proto.relay_mode(), path + ".relay_mode", &pool.relay, violations);
  FromProtoEnum(kCredentials, proto.credentials(), path + ".credentials", &pool.credentials,
                violations);
  for (const pb::Key& key : proto.keys()) {
    pool.keys.push_back({.id = key.id(), .env = key.env(), .file = key.file()});
  }
  if (!proto.key_header().empty()) pool.key_header = proto.key_header();
  pool.ask_usage = proto.ask_usage();
  const pb::Balancing& balancing = proto.balancing();
  FromProtoEnum(kBalances, balancing.policy(), path + ".balancing.policy", &pool.balancing.policy,
                violations);
  FromProtoEnum(kHashOns, balancing.hash_on(), path + ".balancing.hash_on", &pool.balancing.hash_on,
                violations);
  pool.balancing.hash_header = balancing.hash_header();
  if (balancing.has_load_factor()) pool.balancing.load_factor = balancing.load_factor();
  pool.health = FromProto(proto.health());
  pool.probe = FromProto(proto.probe());
  if (proto.has_probe() && pool.probe.path.empty()) {
    violations->push_back({path + ".probe.path", "is required"});
  }
  pool.max_in_flight = proto.max_in_flight();
  pool.queue = FromProto(proto.queue());
  pool.tls = FromProto(proto.tls());
  pool.models.assign(proto.models().begin(), proto.models().end());
  return pool;
}

pb::RouteTarget ToProto(const config::RouteTarget& target) {
  pb::RouteTarget proto;
  proto.set_pool(target.pool);
  proto.set_weight(target.weight);
  proto.set_model(target.model);
  return proto;
}

config::RouteTarget FromProto(const pb::RouteTarget& proto) {
  config::RouteTarget target;
  target.pool = proto.pool();
  if (proto.has_weight()) target.weight = proto.weight();
  target.model = proto.model();
  return target;
}

pb::Route ToProto(const config::Route& route) {
  pb::Route proto;
  proto.set_model(route.model);
  proto.set_pool(route.pool);
  for (const config::RouteTarget& target : route.targets) *proto.add_targets() = ToProto(target);
  for (const config::HeaderMatch& match : route.headers) {
    pb::HeaderMatch* added = proto.add_headers();
    added->set_name(match.name);
    added->set_value(match.value);
  }
  for (const config::RouteTarget& target : route.fallbacks) {
    *proto.add_fallbacks() = ToProto(target);
  }
  return proto;
}

config::Route FromProto(const pb::Route& proto) {
  config::Route route;
  route.model = proto.model();
  route.pool = proto.pool();
  for (const pb::RouteTarget& target : proto.targets()) {
    route.targets.push_back(FromProto(target));
  }
  for (const pb::HeaderMatch& match : proto.headers()) {
    route.headers.push_back({match.name(), match.value()});
  }
  for (const pb::RouteTarget& target : proto.fallbacks()) {
    route.fallbacks.push_back(FromProto(target));
  }
  return route;
}

pb::Principal ToProto(const config::Principal& principal) {
  pb::Principal proto;
  proto.set_id(principal.id);
  proto.mutable_models()->Assign(principal.models.begin(), principal.models.end());
  proto.set_max_in_flight(principal.max_in_flight);
  for (const config::Rate& rate : principal.rates) {
    pb::Rate* added = proto.add_rates();
    added->set_model(rate.model);
    added->set_requests_per_minute(rate.requests_per_minute);
    added->set_tokens_per_minute(rate.tokens_per_minute);
  }
  proto.set_end_streams(principal.end_streams);
  proto.set_priority(principal.priority);
  return proto;
}

config::Principal FromProto(const pb::Principal& proto) {
  config::Principal principal;
  principal.id = proto.id();
  principal.models.assign(proto.models().begin(), proto.models().end());
  principal.max_in_flight = proto.max_in_flight();
  for (const pb::Rate& rate : proto.rates()) {
    principal.rates.push_back({rate.model(), rate.requests_per_minute(), rate.tokens_per_minute()});
  }
  principal.end_streams = proto.end_streams();
  principal.priority = proto.priority();
  return principal;
}

config::Limits FromProto(const pb::Limits& proto) {
  config::Limits limits;
  // A negative size becomes 0, which Validate refuses as well.
  if (proto.has_max_body_bytes()) {
    limits.max_body_bytes = static_cast<size_t>(std::max<int64_t>(proto.max_body_bytes(), 0));
  }
  if (proto.has_max_in_flight()) limits.max_in_flight = proto.max_in_flight();
  if (proto.has_event_ring_capacity()) limits.event_ring_capacity = proto.event_ring_capacity();
  return limits;
}

}  // namespace

pb::Config ToProto(const config::Config& config) {
  pb::Config proto;
  proto.set_name("config");
  for (const config::Pool& pool : config.pools) *proto.add_pools() = ToProto(pool);
  for (const config::Route& route : config.routes) *proto.add_routes() = ToProto(route);
  for (const config::Principal& principal : config.principals) {
    *proto.add_principals() = ToProto(principal);
  }
  proto.mutable_limits()->set_max_body_bytes(static_cast<int64_t>(config.limits.max_body_bytes));
  proto.mutable_limits()->set_max_in_flight(config.limits.max_in_flight);
  proto.mutable_limits()->set_event_ring_capacity(config.limits.event_ring_capacity);
  return proto;
}

pb::Config ToProto(const config::Version& version) {
  pb::Config proto = ToProto(version.config);
  proto.set_etag(version.etag);
  *proto.mutable_update_time() = ToProto(version.time);
  proto.set_generation(static_cast<int64_t>(version.generation));
  return proto;
}

config::Config FromProto(const pb::Config& proto, std::vector<Violation>* violations) {
  config::Config config;
  for (int i = 0; i < proto.pools_size(); ++i) {
    config.pools.push_back(FromProto(proto.pools(i), absl::StrCat("pools[", i, "]"), violations));
  }
  for (const pb::Route& route : proto.routes()) config.routes.push_back(FromProto(route));
  for (const pb::Principal& principal : proto.principals()) {
    config.principals.push_back(FromProto(principal));
  }
  config.limits = FromProto(proto.limits());
  return config;
}

}  // namespace sluice::server
