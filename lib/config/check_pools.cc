#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/config/checks.h"
#include "lib/exchange/endpoint_uri.h"

namespace sluice::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr Duration kLongestTimeout = hours(24);  // more is a mistake in the unit
constexpr int kMostAttempts = 100;
constexpr int kMostTokens = 1000;  // gRPC A6
constexpr int kMostInFlight = 1'000'000;
constexpr int kMostFailures = 1000;
constexpr int kMostProbes = 100;
constexpr size_t kLongestPath = 1024;

bool IsFieldValue(absl::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) { return absl::ascii_iscntrl(c); });
}

/// Checks one pool, whose path is `at`.
class PoolCheck {
 public:
  PoolCheck(const Pool& pool, std::string at, Checks& checks)
      : pool_(pool), at_(std::move(at)), checks_(checks) {}

  void CheckAll() {
    CheckEndpoints();
    CheckTimeouts();
    CheckRetry();
    CheckHedge();
    CheckKeys();
    CheckBalancing();
    CheckHealth();
    if (!pool_.probe.path.empty()) CheckProbe();
    checks_.CheckRange(pool_.max_in_flight, 0, kMostInFlight, Path(".max_in_flight"));
    checks_.CheckRange(pool_.queue.capacity, 0, kMostInFlight, Path(".queue.capacity"));
    checks_.CheckDuration(pool_.queue.max_wait, milliseconds(1), kLongestTimeout,
                          Path(".queue.max_wait"));
    CheckTls();
    for (size_t i = 0; i < pool_.models.size(); ++i) {
      checks_.CheckModel(pool_.models[i], Path(".models[", i, "]"));
    }
  }

 private:
  template <typename... Parts>
  std::string Path(const Parts&... parts) const {
    return absl::StrCat(at_, parts...);
  }

  void CheckEndpoints() {
    Checks::Ids ids;
    for (size_t i = 0; i < pool_.endpoints.size(); ++i) {
      const Endpoint& endpoint = pool_.endpoints[i];
      const std::string path = Path(".endpoints[", i, "]");
      checks_.CheckId(endpoint.id, path + ".id", &ids);
      const absl::StatusOr<EndpointUri> uri = ParseEndpointUri(endpoint.uri);
      if (!uri.ok()) checks_.Add(path + ".uri", uri.status().message());
      if (endpoint.resolve && uri.ok() && uri->host.empty()) {
        checks_.Add(path + ".resolve", "needs a host in `uri`");
      }
      checks_.CheckRange(endpoint.weight, 1, kMostInFlight, path + ".weight");
      checks_.CheckRange(endpoint.max_in_flight, 0, kMostInFlight, path + ".max_in_flight");
      for (size_t k = 0; k < endpoint.headers.size(); ++k) {
        const std::string header = absl::StrCat(path, ".headers[", k, "]");
        checks_.CheckFieldName(endpoint.headers[k].name, header + ".name");
        if (!IsFieldValue(endpoint.headers[k].value)) {
          checks_.Add(header + ".value", "must not have control characters");
        }
      }
    }
  }

  void CheckTimeouts() {
    const Timeouts& timeouts = pool_.timeouts;
    const std::pair<absl::string_view, Duration> all[] = {
        {"connect", timeouts.connect},
        {"first_frame", timeouts.first_frame},
        {"idle", timeouts.idle},
        {"frame_idle", timeouts.frame_idle},
        {"hold_budget", timeouts.hold_budget},
        {"hold_keepalive", timeouts.hold_keepalive},
        {"client_stall", timeouts.client_stall},
    };
    for (const auto& [name, value] : all) {
      if (value <= Duration::zero() || value > kLongestTimeout) {
        checks_.Add(Path(".timeouts.", name), "must be more than 0 s and at most 24 h");
      }
    }
  }

  void CheckRetry() {
    checks_.CheckRange(pool_.retry.max_attempts, 1, kMostAttempts, Path(".retry.max_attempts"));
    checks_.CheckRange(pool_.retry.budget_tokens, 1, kMostTokens, Path(".retry.budget_tokens"));
    checks_.CheckRange(pool_.retry.budget_ratio, 0.0, 1.0, Path(".retry.budget_ratio"));
  }

  void CheckHedge() {
    const Hedge& hedge = pool_.hedge;
    checks_.CheckDuration(hedge.after, Duration::zero(), kLongestTimeout, Path(".hedge.after"));
    checks_.CheckRange(hedge.ratio, 0.0, 1.0, Path(".hedge.ratio"));
    if (hedge.after > Duration::zero() && pool_.retry.max_attempts < 2) {
      checks_.Add(Path(".hedge.after"), "needs `retry.max_attempts` of 2 or more");
    }
  }

  void CheckKeys() {
    Checks::Ids ids;
    for (size_t i = 0; i < pool_.keys.size(); ++i) {
      const Key& key = pool_.keys[i];
      const std::string path = Path(".keys[", i, "]");
      checks_.CheckId(key.id, path + ".id", &ids);
      if (key.env.empty() == key.file.empty()) {
        checks_.Add(path, "needs one of env and file, which tell where its value is");
      }
    }
    if (!pool_.keys.empty() && pool_.credentials == Credentials::kPassThrough) {
      checks_.Add(Path(".keys"),
                  "cannot be used: the pool passes the credentials of its clients through");
    }
    checks_.CheckFieldName(pool_.key_header, Path(".key_header"));
  }

  void CheckBalancing() {
    const Balancing& balancing = pool_.balancing;
    const bool hashes = balancing.policy == Balance::kConsistentHash;
    if (hashes && balancing.hash_on == HashOn::kHeader) {
      checks_.CheckFieldName(balancing.hash_header, Path(".balancing.hash_header"));
    }
    checks_.CheckRange(balancing.load_factor, 1.0, 100.0, Path(".balancing.load_factor"));
  }

  void CheckHealth() {
    const Health& health = pool_.health;
    checks_.CheckRange(health.consecutive_failures, 0, kMostFailures,
                       Path(".health.consecutive_failures"));
    checks_.CheckRange(health.failure_ratio, 0.0, 1.0, Path(".health.failure_ratio"));
    checks_.CheckDuration(health.ejection, milliseconds(1), kLongestTimeout,
                          Path(".health.ejection"));
    checks_.CheckDuration(health.longest_ejection, milliseconds(1), kLongestTimeout,
                          Path(".health.longest_ejection"));
    if (health.longest_ejection < health.ejection) {
      checks_.Add(Path(".health.longest_ejection"), "must not be less than `ejection`");
    }
    checks_.CheckRange(health.max_ejected_percent, 0, 100, Path(".health.max_ejected_percent"));
    checks_.CheckDuration(health.slow_start, Duration::zero(), kLongestTimeout,
                          Path(".health.slow_start"));
  }

  void CheckProbe() {
    const Probe& probe = pool_.probe;
    const bool is_target = probe.path[0] == '/' && probe.path.size() <= kLongestPath &&
                           std::all_of(probe.path.begin(), probe.path.end(),
                                       [](char c) { return absl::ascii_isgraph(c) && c != '#'; });
    if (!is_target) {
      checks_.Add(
          Path(".probe.path"),
          "must begin with \"/\" and be at most 1024 bytes of what a request's path may have");
    }
    checks_.CheckDuration(probe.interval, milliseconds(100), hours(1), Path(".probe.interval"));
    checks_.CheckDuration(probe.timeout, milliseconds(1), hours(1), Path(".probe.timeout"));
    checks_.CheckRange(probe.unhealthy_after, 1, kMostProbes, Path(".probe.unhealthy_after"));
    checks_.CheckRange(probe.healthy_after, 1, kMostProbes, Path(".probe.healthy_after"));
  }

  void CheckTls() {
    if (pool_.tls.certificate_file.empty() != pool_.tls.private_key_file.empty()) {
      checks_.Add(Path(".tls"), "needs both of certificate_file and private_key_file, or neither");
    }
    if (pool_.tls.insecure && !pool_.tls.ca_file.empty()) {
      checks_.Add(Path(".tls.insecure"), "takes any certificate: ca_file would not be used");
    }
  }

  const Pool& pool_;
  const std::string at_;
  Checks& checks_;
};

}  // namespace

void CheckPools(const std::vector<Pool>& pools, Checks& checks, Checks::Ids* ids) {
  for (size_t i = 0; i < pools.size(); ++i) {
    const std::string path = absl::StrCat("pools[", i, "]");
    checks.CheckId(pools[i].id, path + ".id", ids);
    PoolCheck(pools[i], path, checks).CheckAll();
  }
}

}  // namespace sluice::config
