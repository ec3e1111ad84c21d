#ifndef SLUICE_LIB_UPSTREAM_ENDPOINT_STATE_H_
#define SLUICE_LIB_UPSTREAM_ENDPOINT_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/exchange/cause.h"
#include "lib/upstream/health.h"
#include "lib/upstream/peak_ewma.h"

namespace sluice::upstream {

/// What is known of an endpoint beyond its configuration. Outlives changes of the configuration.
/// All but the atomics is guarded by the lock of its table.
struct EndpointState {
  EndpointState(std::string endpoint_name, std::string pool_id)
      : name(std::move(endpoint_name)), pool(std::move(pool_id)) {}

  // What each pick looks at comes first.
  std::atomic<int> in_flight{0};
  /// Whether somebody may wait until an attempt at it ends, by the newest configuration: attempts
  /// of an older one are waited for too.
  std::atomic<bool> limited{false};
  uint64_t drain_turn = 0;  // counts changes: odd while it is draining
  /// Of an address that a name was found at: the endpoint it belongs to, whose drain holds for it.
  std::shared_ptr<EndpointState> parent;
  Instant rests_until;
  Health health;

  const std::string name;  // "pools/chat/endpoints/a", or ".../a@10.0.0.1"
  const std::string pool;
  std::string host;  // with a parent: the name, and the address
  std::string ip;
  std::atomic<int64_t> attempts{0};
  std::atomic<int64_t> failed_attempts{0};
  PeakEwma first_frame;
  std::optional<Cause> last_failure;
  absl::Time last_failure_at = absl::InfinitePast();
  bool forgotten = false;  // by the table: it is not listed
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_ENDPOINT_STATE_H_
