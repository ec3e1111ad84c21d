#include "server/config_convert.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using server::FromProto;  // overloads of the enclosing namespace, which those below would hide
using server::ToProto;

pb::Timeouts ToProto(const config::Timeouts& timeouts) {
  pb::Timeouts proto;
  *proto.mutable_connect() = ToProto(timeouts.connect);
  *proto.mutable_first_frame() = ToProto(timeouts.first_frame);
  *proto.mutable_idle() = ToProto(timeouts.idle);
  *proto.mutable_frame_idle() = ToProto(timeouts.frame_idle);
  *proto.mutable_hold_budget() = ToProto(timeouts.hold_budget);
  *proto.mutable_hold_keepalive() = ToProto(timeouts.hold_keepalive);
  *proto.mutable_client_stall() = ToProto(timeouts.client_stall);
  return proto;
}

config::Timeouts FromProto(const pb::Timeouts& proto) {
  config::Timeouts timeouts;
  if (proto.has_connect()) timeouts.connect = FromProto(proto.connect());
  if (proto.has_first_frame()) timeouts.first_frame = FromProto(proto.first_frame());
  if (proto.has_idle()) timeouts.idle = FromProto(proto.idle());
  if (proto.has_frame_idle()) timeouts.frame_idle = FromProto(proto.frame_idle());
  if (proto.has_hold_budget()) timeouts.hold_budget = FromProto(proto.hold_budget());
  if (proto.has_hold_keepalive()) timeouts.hold_keepalive = FromProto(proto.hold_keepalive());
  if (proto.has_client_stall()) timeouts.client_stall = FromProto(proto.client_stall());
  return timeouts;
}

pb::Retry ToProto(const config::Retry& retry) {
  pb::Retry proto;
  proto.set_max_attempts(retry.max_attempts);
  proto.set_retry_503(retry.retry_503);
  proto.set_retry_after_send(retry.retry_after_send);
  return proto;
}

config::Retry FromProto(const pb::Retry& proto) {
  config::Retry retry;
  if (proto.has_max_attempts()) retry.max_attempts = proto.max_attempts();
  if (proto.has_retry_503()) retry.retry_503 = proto.retry_503();
  if (proto.has_retry_after_send()) retry.retry_after_send = proto.retry_after_send();
  return retry;
}

pb::CommitPoint ToProto(config::CommitPoint point) {
  switch (point) {
    case config::CommitPoint::kFirstFrame:
      return pb::COMMIT_POINT_FIRST_FRAME;
    case config::CommitPoint::kOnHead:
      return pb::COMMIT_POINT_ON_HEAD;
  }
  return pb::COMMIT_POINT_UNSPECIFIED;
}

std::optional<config::CommitPoint> FromProto(pb::CommitPoint proto) {
  switch (proto) {
    case pb::COMMIT_POINT_UNSPECIFIED:
    case pb::COMMIT_POINT_FIRST_FRAME:
      return config::CommitPoint::kFirstFrame;
    case pb::COMMIT_POINT_ON_HEAD:
      return config::CommitPoint::kOnHead;
    default:
      return std::nullopt;
  }
}

pb::RelayMode ToProto(config::RelayMode mode) {
  switch (mode) {
    case config::RelayMode::kIdentical:
      return pb::RELAY_MODE_IDENTICAL;
    case config::RelayMode::kValidFrames:
      return pb::RELAY_MODE_VALID_FRAMES;
  }
  return pb::RELAY_MODE_UNSPECIFIED;
}

std::optional<config::RelayMode> FromProto(pb::RelayMode proto) {
  switch (proto) {
    case pb::RELAY_MODE_UNSPECIFIED:
    case pb::RELAY_MODE_IDENTICAL:
      return config::RelayMode::kIdentical;
    case pb::RELAY_MODE_VALID_FRAMES:
      return config::RelayMode::kValidFrames;
    default:
      return std::nullopt;
  }
}

pb::Credentials ToProto(config::Credentials credentials) {
  switch (credentials) {
    case config::Credentials::kReplace:
      return pb::CREDENTIALS_REPLACE;
    case config::Credentials::kPassThrough:
      return pb::CREDENTIALS_PASS_THROUGH;
  }
  return pb::CREDENTIALS_UNSPECIFIED;
}

std::optional<config::Credentials> FromProto(pb::Credentials proto) {
  switch (proto) {
    case pb::CREDENTIALS_UNSPECIFIED:
    case pb::CREDENTIALS_REPLACE:
      return config::Credentials::kReplace;
    case pb::CREDENTIALS_PASS_THROUGH:
      return config::Credentials::kPassThrough;
    default:
      return std::nullopt;
  }
}

/// Converts an enum field, or reports that its value is unknown and leaves `out` as it is.
template <typename ProtoEnum, typename Enum>
void ConvertEnum(ProtoEnum proto, const std::string& path, Enum* out,
                 std::vector<config::Violation>* violations) {
  if (const std::optional<Enum> value = FromProto(proto)) {
    *out = *value;
  } else {
    violations->push_back(
        {path, absl::StrCat("does not know the value ", static_cast<int>(proto))});
  }
}

pb::Pool ToProto(const config::Pool& pool) {
  pb::Pool proto;
  proto.set_id(pool.id);
  for (const config::Endpoint& endpoint : pool.endpoints) {
    pb::Endpoint* added = proto.add_endpoints();
    added->set_id(endpoint.id);
    added->set_uri(endpoint.uri);
  }
  *proto.mutable_timeouts() = ToProto(pool.timeouts);
  *proto.mutable_retry() = ToProto(pool.retry);
  proto.set_commit_point(ToProto(pool.commit));
  proto.set_relay_mode(ToProto(pool.relay));
  proto.set_credentials(ToProto(pool.credentials));
  for (const config::Key& key : pool.keys) {
    pb::Key* added = proto.add_keys();
    added->set_id(key.id);
    if (!key.env.empty()) added->set_env(key.env);
    if (!key.file.empty()) added->set_file(key.file);
  }
  proto.set_key_header(pool.key_header);
  proto.set_ask_usage(pool.ask_usage);
  return proto;
}

config::Pool FromProto(const pb::Pool& proto, const std::string& path,
                       std::vector<config::Violation>* violations) {
  config::Pool pool;
  pool.id = proto.id();
  for (const pb::Endpoint& endpoint : proto.endpoints()) {
    pool.endpoints.push_back(FromProto(endpoint));
  }
  pool.timeouts = FromProto(proto.timeouts());
  pool.retry = FromProto(proto.retry());
  ConvertEnum(proto.commit_point(), path + ".commit_point", &pool.commit, violations);
  ConvertEnum(proto.relay_mode(), path + ".relay_mode", &pool.relay, violations);
  ConvertEnum(proto.credentials(), path + ".credentials", &pool.credentials, violations);
  for (const pb::Key& key : proto.keys()) {
    pool.keys.push_back({.id = key.id(), .env = key.env(), .file = key.file()});
  }
  if (!proto.key_header().empty()) pool.key_header = proto.key_header();
  pool.ask_usage = proto.ask_usage();
  return pool;
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
  for (const config::Route& route : config.routes) {
    pb::Route* added = proto.add_routes();
    added->set_model(route.model);
    added->set_pool(route.pool);
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

config::Config FromProto(const pb::Config& proto, std::vector<config::Violation>* violations) {
  config::Config config;
  for (int i = 0; i < proto.pools_size(); ++i) {
    config.pools.push_back(FromProto(proto.pools(i), absl::StrCat("pools[", i, "]"), violations));
  }
  for (const pb::Route& route : proto.routes()) {
    config.routes.push_back({route.model(), route.pool()});
  }
  config.limits = FromProto(proto.limits());
  return config;
}

config::Endpoint FromProto(const pb::Endpoint& proto) {
  return {.id = proto.id(), .uri = proto.uri()};
}

}  // namespace sluice::server
