#include "server/pool_convert.h"

#include "server/proto_time.h"

namespace sluice::server {

namespace pb = ::sluice::control::v1;

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
  proto.set_budget_tokens(retry.budget_tokens);
  proto.set_budget_ratio(retry.budget_ratio);
  return proto;
}

config::Retry FromProto(const pb::Retry& proto) {
  config::Retry retry;
  if (proto.has_max_attempts()) retry.max_attempts = proto.max_attempts();
  if (proto.has_retry_503()) retry.retry_503 = proto.retry_503();
  if (proto.has_retry_after_send()) retry.retry_after_send = proto.retry_after_send();
  if (proto.has_budget_tokens()) retry.budget_tokens = proto.budget_tokens();
  if (proto.has_budget_ratio()) retry.budget_ratio = proto.budget_ratio();
  return retry;
}

pb::Hedge ToProto(const config::Hedge& hedge) {
  pb::Hedge proto;
  *proto.mutable_after() = ToProto(hedge.after);
  proto.set_ratio(hedge.ratio);
  return proto;
}

config::Hedge FromProto(const pb::Hedge& proto) {
  config::Hedge hedge;
  if (proto.has_after()) hedge.after = FromProto(proto.after());
  if (proto.has_ratio()) hedge.ratio = proto.ratio();
  return hedge;
}

pb::Health ToProto(const config::Health& health) {
  pb::Health proto;
  proto.set_consecutive_failures(health.consecutive_failures);
  proto.set_failure_ratio(health.failure_ratio);
  *proto.mutable_ejection() = ToProto(health.ejection);
  *proto.mutable_longest_ejection() = ToProto(health.longest_ejection);
  proto.set_max_ejected_percent(health.max_ejected_percent);
  *proto.mutable_slow_start() = ToProto(health.slow_start);
  return proto;
}

config::Health FromProto(const pb::Health& proto) {
  config::Health health;
  if (proto.has_consecutive_failures()) health.consecutive_failures = proto.consecutive_failures();
  health.failure_ratio = proto.failure_ratio();
  if (proto.has_ejection()) health.ejection = FromProto(proto.ejection());
  if (proto.has_longest_ejection()) health.longest_ejection = FromProto(proto.longest_ejection());
  if (proto.has_max_ejected_percent()) health.max_ejected_percent = proto.max_ejected_percent();
  if (proto.has_slow_start()) health.slow_start = FromProto(proto.slow_start());
  return health;
}

pb::Probe ToProto(const config::Probe& probe) {
  pb::Probe proto;
  proto.set_path(probe.path);
  *proto.mutable_interval() = ToProto(probe.interval);
  *proto.mutable_timeout() = ToProto(probe.timeout);
  proto.set_unhealthy_after(probe.unhealthy_after);
  proto.set_healthy_after(probe.healthy_after);
  return proto;
}

config::Probe FromProto(const pb::Probe& proto) {
  config::Probe probe;
  probe.path = proto.path();
  if (proto.has_interval()) probe.interval = FromProto(proto.interval());
  if (proto.has_timeout()) probe.timeout = FromProto(proto.timeout());
  if (proto.has_unhealthy_after()) probe.unhealthy_after = proto.unhealthy_after();
  if (proto.has_healthy_after()) probe.healthy_after = proto.healthy_after();
  return probe;
}

pb::Queue ToProto(const config::Queue& queue) {
  pb::Queue proto;
  proto.set_capacity(queue.capacity);
  *proto.mutable_max_wait() = ToProto(queue.max_wait);
  return proto;
}

config::Queue FromProto(const pb::Queue& proto) {
  config::Queue queue;
  queue.capacity = proto.capacity();
  if (proto.has_max_wait()) queue.max_wait = FromProto(proto.max_wait());
  return queue;
}

pb::Tls ToProto(const TlsOptions& tls) {
  pb::Tls proto;
  proto.set_ca_file(tls.ca_file);
  proto.set_certificate_file(tls.certificate_file);
  proto.set_private_key_file(tls.private_key_file);
  proto.set_server_name(tls.server_name);
  proto.set_insecure(tls.insecure);
  return proto;
}

TlsOptions FromProto(const pb::Tls& proto) {
  return {.ca_file = proto.ca_file(),
          .certificate_file = proto.certificate_file(),
          .private_key_file = proto.private_key_file(),
          .server_name = proto.server_name(),
          .insecure = proto.insecure()};
}

pb::Endpoint ToProto(const config::Endpoint& endpoint) {
  pb::Endpoint proto;
  proto.set_id(endpoint.id);
  proto.set_uri(endpoint.uri);
  proto.set_weight(endpoint.weight);
  proto.set_max_in_flight(endpoint.max_in_flight);
  proto.set_resolve(endpoint.resolve);
  for (const config::HeaderAddition& header : endpoint.headers) {
    pb::HeaderAddition* added = proto.add_headers();
    added->set_name(header.name);
    added->set_value(header.value);
  }
  return proto;
}

config::Endpoint FromProto(const pb::Endpoint& proto) {
  config::Endpoint endpoint;
  endpoint.id = proto.id();
  endpoint.uri = proto.uri();
  if (proto.has_weight()) endpoint.weight = proto.weight();
  endpoint.max_in_flight = proto.max_in_flight();
  endpoint.resolve = proto.resolve();
  for (const pb::HeaderAddition& header : proto.headers()) {
    endpoint.headers.push_back({header.name(), header.value()});
  }
  return endpoint;
}

}  // namespace sluice::server
