#include "lib/config/validate.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "lib/exchange/endpoint_uri.h"

namespace sluice::config {
namespace {

constexpr Duration kLongestTimeout = std::chrono::hours(24);  // more is a mistake in the unit
constexpr int kMostAttempts = 100;
constexpr size_t kLargestBody = size_t{4} << 30;
constexpr int kMostInFlight = 1'000'000;
constexpr int kFewestEvents = 1 << 10;
constexpr int kMostEvents = 1 << 24;
constexpr size_t kLongestId = 63;  // AIP-122: fits a DNS label
constexpr size_t kLongestModel = 256;

bool IsId(absl::string_view id) {
  return !id.empty() && id.size() <= kLongestId && absl::ascii_islower(id.front()) &&
         id.back() != '-' && std::all_of(id.begin(), id.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

/// RFC 9110 section 5.6.2.
bool IsToken(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", c);
  });
}

// Fields with which the gateway frames and names a request.
constexpr absl::string_view kFramingFields[] = {
    "Host",    "Content-Length", "Transfer-Encoding", "Connection",   "TE",
    "Trailer", "Upgrade",        "Accept-Encoding",   "X-Request-Id", "traceparent"};

bool IsFramingField(absl::string_view name) {
  return std::any_of(
      std::begin(kFramingFields), std::end(kFramingFields),
      [name](absl::string_view field) { return absl::EqualsIgnoreCase(field, name); });
}

/// Collects violations while it walks a configuration.
class Checker {
 public:
  std::vector<Violation> Take() { return std::move(violations_); }

  void CheckPools(const std::vector<Pool>& pools) {
    for (size_t i = 0; i < pools.size(); ++i) {
      const std::string path = absl::StrCat("pools[", i, "]");
      CheckId(pools[i].id, absl::StrCat(path, ".id"), &pool_ids_);
      CheckEndpoints(pools[i].endpoints, absl::StrCat(path, ".endpoints"));
      CheckTimeouts(pools[i].timeouts, absl::StrCat(path, ".timeouts"));
      CheckRange(pools[i].retry.max_attempts, 1, kMostAttempts,
                 absl::StrCat(path, ".retry.max_attempts"));
      CheckKeys(pools[i], path);
    }
  }

  /// After CheckPools: routes refer to pools.
  void CheckRoutes(const std::vector<Route>& routes) {
    std::set<absl::string_view> models;
    for (size_t i = 0; i < routes.size(); ++i) {
      const std::string path = absl::StrCat("routes[", i, "]");
      const absl::string_view model = routes[i].model;
      CheckModel(model, absl::StrCat(path, ".model"));
      if (!model.empty() && !models.insert(model).second) {
        Add(absl::StrCat(path, ".model"), "another route has the same model");
      }
      if (routes[i].pool.empty()) {
        Add(absl::StrCat(path, ".pool"), "is required");
      } else if (!pool_ids_.contains(routes[i].pool)) {
        Add(absl::StrCat(path, ".pool"), absl::StrCat("there is no pool \"", routes[i].pool, "\""));
      }
    }
  }

  void CheckLimits(const Limits& limits) {
    CheckRange(limits.max_body_bytes, size_t{1}, kLargestBody, "limits.max_body_bytes");
    CheckRange(limits.max_in_flight, 1, kMostInFlight, "limits.max_in_flight");
    CheckRange(limits.event_ring_capacity, kFewestEvents, kMostEvents,
               "limits.event_ring_capacity");
  }

 private:
  void Add(absl::string_view path, absl::string_view reason) {
    violations_.push_back({std::string(path), std::string(reason)});
  }

  void CheckId(absl::string_view id, absl::string_view path, std::set<absl::string_view>* seen) {
    if (!IsId(id)) {
      Add(path,
          "must be 1 to 63 lower-case letters, digits and hyphens, begin with a letter and not end "
          "with a hyphen");
    } else if (!seen->insert(id).second) {
      Add(path, absl::StrCat("\"", id, "\" is used twice"));
    }
  }

  void CheckEndpoints(const std::vector<Endpoint>& endpoints, absl::string_view list_path) {
    std::set<absl::string_view> ids;
    for (size_t i = 0; i < endpoints.size(); ++i) {
      const std::string path = absl::StrCat(list_path, "[", i, "]");
      CheckId(endpoints[i].id, absl::StrCat(path, ".id"), &ids);
      const absl::StatusOr<EndpointUri> uri = ParseEndpointUri(endpoints[i].uri);
      if (!uri.ok()) Add(absl::StrCat(path, ".uri"), uri.status().message());
    }
  }

  void CheckKeys(const Pool& pool, absl::string_view pool_path) {
    std::set<absl::string_view> ids;
    for (size_t i = 0; i < pool.keys.size(); ++i) {
      const Key& key = pool.keys[i];
      const std::string path = absl::StrCat(pool_path, ".keys[", i, "]");
      CheckId(key.id, absl::StrCat(path, ".id"), &ids);
      if (key.env.empty() == key.file.empty()) {
        Add(path, "needs one of env and file, which tell where its value is");
      }
    }
    if (!pool.keys.empty() && pool.credentials == Credentials::kPassThrough) {
      Add(absl::StrCat(pool_path, ".keys"),
          "cannot be used: the pool passes the credentials of its clients through");
    }
    if (!IsToken(pool.key_header) || IsFramingField(pool.key_header)) {
      Add(absl::StrCat(pool_path, ".key_header"), "is no name of a header field for keys");
    }
  }

  void CheckTimeouts(const Timeouts& timeouts, absl::string_view path) {
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
        Add(absl::StrCat(path, ".", name), "must be more than 0 s and at most 24 h");
      }
    }
  }

  void CheckModel(absl::string_view model, absl::string_view path) {
    if (model.empty()) {
      Add(path, "is required; \"*\" matches every model");
    } else if (model.size() > kLongestModel || std::any_of(model.begin(), model.end(), [](char c) {
                 return absl::ascii_iscntrl(c);
               })) {
      Add(path, "must be at most 256 bytes without control characters");
    } else if (model.find('*') < model.size() - 1) {
      Add(path, "may have \"*\" only at its end");
    }
  }

  template <typename Number>
  void CheckRange(Number value, Number least, Number most, absl::string_view path) {
    if (value < least || value > most) {
      Add(path, absl::StrCat("must be from ", least, " to ", most, ", is ", value));
    }
  }

  std::vector<Violation> violations_;
  std::set<absl::string_view> pool_ids_;  // borrowed from the configuration
};

}  // namespace

std::vector<Violation> Validate(const Config& config) {
  Checker checker;
  checker.CheckPools(config.pools);
  checker.CheckRoutes(config.routes);
  checker.CheckLimits(config.limits);
  return checker.Take();
}

std::string ToString(const std::vector<Violation>& violations) {
  return absl::StrJoin(violations, "\n", [](std::string* out, const Violation& violation) {
    absl::StrAppend(out, violation.path, ": ", violation.reason);
  });
}

}  // namespace sluice::config
