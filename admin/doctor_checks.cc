#include "admin/doctor_checks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "admin/escape.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

/// A watcher that lost its connection for this long still finds its place in the ring.
constexpr absl::Duration kShortestMemory = absl::Minutes(1);
/// In flight, of the most that may be.
constexpr double kNearlyFull = 0.9;
/// Attempts before a share of failures means something, and the share that is too much.
constexpr int64_t kEnoughAttempts = 3;
constexpr double kTooManyFailures = 0.5;

Check Good(absl::string_view name, std::string finding) {
  return {name, true, std::move(finding), ""};
}

Check Bad(absl::string_view name, std::string finding, std::string next) {
  return {name, false, std::move(finding), std::move(next)};
}

Check RingCheck(const v1::ServerStatus& status, absl::Duration up) {
  const v1::EventRing& ring = status.ring();
  const std::string size = absl::StrCat(ring.size(), " of ", ring.capacity(), " events held");
  if (ring.published() == 0 || ring.size() < ring.capacity()) return Good("ring", size);
  const absl::Duration memory =
      up * (static_cast<double>(ring.capacity()) / static_cast<double>(ring.published()));
  const std::string finding =
      absl::StrCat(size, ", which on average is the last ", DurationText(memory));
  if (memory >= kShortestMemory) return Good("ring", finding);
  return Bad("ring", finding,
             "A watcher that is cut off for longer loses events: raise limits.event_ring_capacity "
             "with `sluicectl config edit`.");
}

std::string List(const std::vector<std::string>& names) { return absl::StrJoin(names, ", "); }

/// What stands before the `/` of "chat/a".
std::string PoolOf(const std::string& place) {
  return std::vector<std::string>(absl::StrSplit(place, '/'))[0];
}

}  // namespace

std::vector<Check> CheckServer(const v1::ServerStatus& status, absl::string_view own_version,
                               absl::Time now) {
  std::vector<Check> checks;
  const absl::Duration up = now - ToTime(status.start_time());
  checks.push_back(Good("connection", absl::StrCat("the server answers, up for ", DurationText(up),
                                                   ", ", status.in_flight(), " in flight")));
  if (status.draining()) {
    checks.push_back(Bad("serving", "the server drains: it accepts no more requests",
                         "See who remains with `sluicectl exchange list`, then restart it."));
  }
  const std::string versions =
      absl::StrCat("server ", EscapeName(status.version()), ", sluicectl ", own_version);
  checks.push_back(status.version() == own_version
                       ? Good("version", versions)
                       : Bad("version", versions,
                             "Use the sluicectl of the server's version: another one may show less "
                             "than there is."));
  checks.push_back(RingCheck(status, up));
  const std::string watchers = absl::StrCat(status.watchers(), " watchers, ",
                                            status.watchers_dropped(), " dropped since the start");
  checks.push_back(status.watchers_dropped() == 0
                       ? Good("watchers", watchers)
                       : Bad("watchers", watchers,
                             "They read too slowly: see that no `sluicectl watch` is paused, or "
                             "pipes into something slow; --kind makes it less."));
  return checks;
}

std::vector<Check> CheckConfig(const v1::Config& config, const v1::ServerStatus& status) {
  std::vector<Check> checks;
  const std::string version =
      absl::StrCat("generation ", config.generation(), ", etag ", EscapeName(config.etag()));
  if (config.generation() == 0 && config.pools().empty()) {
    checks.push_back(Bad("config", "none was ever applied: every request gets 503",
                         "Apply one with `sluicectl config apply FILE`."));
    return checks;
  }
  checks.push_back(Good("config", version));

  const int64_t most = config.limits().max_in_flight();
  const std::string in_flight = absl::StrCat(status.in_flight(), " of ", most, " in flight");
  checks.push_back(most == 0 || static_cast<double>(status.in_flight()) <
                                    kNearlyFull * static_cast<double>(most)
                       ? Good("capacity", in_flight)
                       : Bad("capacity", in_flight,
                             "More are refused with 503: find what hangs with `sluicectl top`, or "
                             "raise limits.max_in_flight."));

  std::set<std::string> routed;
  bool any_model = false;
  for (const v1::Route& route : config.routes()) {
    routed.insert(route.pool());
    for (const v1::RouteTarget& target : route.targets()) routed.insert(target.pool());
    for (const v1::RouteTarget& target : route.fallbacks()) routed.insert(target.pool());
    any_model = any_model || route.model() == "*";
  }
  std::vector<std::string> empty;
  std::vector<std::string> idle;
  for (const v1::Pool& pool : config.pools()) {
    if (pool.endpoints().empty()) empty.push_back(EscapeName(pool.id()));
    if (routed.count(pool.id()) == 0) idle.push_back(EscapeName(pool.id()));
  }
  checks.push_back(
      empty.empty() ? Good("pools", absl::StrCat(config.pools_size(), ", each has endpoints"))
                    : Bad("pools", absl::StrCat("no endpoint in ", List(empty)),
                          absl::StrCat("Add one: sluicectl endpoint add ", empty[0], " ID URI")));
  if (config.routes().empty()) {
    checks.push_back(
        Bad("routes", "none: every request gets 404", "Add one with `sluicectl config edit`."));
  } else if (!idle.empty()) {
    checks.push_back(Bad("routes", absl::StrCat("none leads to ", List(idle)),
                         "Add one with `sluicectl config edit`, or remove the pool."));
  } else {
    checks.push_back(Good(
        "routes", absl::StrCat(config.routes_size(), any_model ? ", every model has one"
                                                               : "; models without one get 404")));
  }
  return checks;
}

Check CheckEjected(const v1::ListEndpointsResponse& endpoints) {
  std::vector<std::string> ejected;
  for (const v1::EndpointStatus& endpoint : endpoints.endpoints()) {
    if (endpoint.state() != v1::EndpointStatus::STATE_EJECTED &&
        endpoint.state() != v1::EndpointStatus::STATE_TRIAL) {
      continue;
    }
    ejected.push_back(absl::StrCat(EndpointText(endpoint.name()), " (",
                                   EscapeName(endpoint.last_failure()), ")"));
  }
  if (ejected.empty()) return Good("ejected", "no endpoint is");
  return Bad("ejected", List(ejected), "Until when, and why: sluicectl endpoint list");
}

Check CheckKeys(const v1::ListEndpointsResponse& endpoints) {
  std::vector<std::string> unusable;
  for (const v1::PoolStatus& pool : endpoints.pools()) {
    for (const v1::KeyStatus& key : pool.keys()) {
      if (key.state() == v1::KeyStatus::STATE_ACTIVE) continue;
      unusable.push_back(
          absl::StrCat(EscapeName(pool.id()), "/", EscapeName(key.id()), " ",
                       EnumText(v1::KeyStatus::State_Name(key.state()), "STATE_", key.state())));
    }
  }
  if (unusable.empty()) return Good("keys", "all keys of pools are usable");
  return Bad(
      "keys", List(unusable),
      "A refused key is used again once its file or the configuration changes, an unreadable one "
      "once it can be read, a resting one by itself: sluicectl pool list");
}

std::vector<Check> CheckEndpoints(const v1::ListEndpointsResponse& endpoints) {
  std::vector<std::string> drained;
  std::vector<std::string> failing;
  std::map<std::string, bool> pool_serves;
  for (const v1::EndpointStatus& endpoint : endpoints.endpoints()) {
    const std::string place = EndpointText(endpoint.name());
    const bool active = endpoint.state() == v1::EndpointStatus::STATE_ACTIVE;
    pool_serves[PoolOf(place)] |= active;
    if (endpoint.state() == v1::EndpointStatus::STATE_DRAINING) drained.push_back(place);
    if (active && endpoint.attempts() >= kEnoughAttempts &&
        static_cast<double>(endpoint.failed_attempts()) >=
            kTooManyFailures * static_cast<double>(endpoint.attempts())) {
      failing.push_back(
          absl::StrCat(place, " (", endpoint.failed_attempts(), " of ", endpoint.attempts(), ")"));
    }
  }
  std::vector<Check> checks;
  if (drained.empty()) {
    checks.push_back(Good("drained", "no endpoint is"));
  } else {
    std::vector<std::string> closed;
    for (const auto& [pool, serves] : pool_serves) {
      if (!serves) closed.push_back(pool);
    }
    checks.push_back(
        Bad("drained",
            absl::StrCat(
                List(drained),
                closed.empty() ? "" : absl::StrCat("; nothing is left that serves ", List(closed))),
            absl::StrCat("If its work is done: sluicectl endpoint resume ", drained[0])));
  }
  checks.push_back(failing.empty()
                       ? Good("failures", "no endpoint fails half of its attempts")
                       : Bad("failures",
                             absl::StrCat("since the start of the server: ", List(failing)),
                             "See why: sluicectl watch --since 10m --kind attempt_failed"));
  checks.push_back(CheckEjected(endpoints));
  checks.push_back(CheckKeys(endpoints));
  return checks;
}

}  // namespace sluice::admin
