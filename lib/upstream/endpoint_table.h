#ifndef SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_
#define SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"
#include "lib/config/config.h"

namespace sluice::upstream {

/// "pools/chat/endpoints/a": names an endpoint in records, events and the control API.
std::string EndpointName(const config::Pool& pool, const config::Endpoint& endpoint);

/// What is known of an endpoint beyond its configuration. Outlives changes of the configuration.
struct EndpointState {
  explicit EndpointState(std::string endpoint_name) : name(std::move(endpoint_name)) {}
  const std::string name;
  std::atomic<int> in_flight{0};
};

/// The right to use one endpoint, counted as in flight from Acquire until it is destroyed or
/// released. Thread-compatible; may end on any thread.
class Lease {
 public:
  /// `endpoint` is borrowed: whoever holds the lease keeps its configuration snapshot.
  Lease(std::shared_ptr<EndpointState> state, const config::Endpoint& endpoint);
  ~Lease() { Release(); }
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;

  /// Ends the lease early; the name and address stay readable until the lease is moved from.
  void Release();

  const config::Endpoint& endpoint() const { return *endpoint_; }

 private:
  std::shared_ptr<EndpointState> state_;  // null once released
  const config::Endpoint* endpoint_;
};

/// The runtime state of all endpoints, by name. Thread-safe.
class EndpointTable {
 public:
  /// Leases the next endpoint of `pool`, in turn, that is eligible; nothing when there is none.
  std::optional<Lease> Acquire(const config::Pool& pool,
                               absl::FunctionRef<bool(const config::Endpoint&)> eligible);

  /// Leases held on the endpoint of that name; 0 for one that was never used.
  int InFlight(absl::string_view name) const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<EndpointState>, std::less<>> states_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t, std::less<>> turns_ ABSL_GUARDED_BY(mutex_);  // by pool id
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_
