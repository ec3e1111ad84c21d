#ifndef SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_
#define SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"
#include "lib/config/config.h"
#include "lib/exchange/upstream_address.h"

namespace sluice::upstream {

/// "pools/chat/endpoints/a": names an endpoint in records, events and the control API.
std::string EndpointName(const config::Pool& pool, const config::Endpoint& endpoint);

/// What is known of an endpoint beyond its configuration. Outlives changes of the configuration.
struct EndpointState {
  explicit EndpointState(std::string endpoint_name) : name(std::move(endpoint_name)) {}
  const std::string name;
  std::atomic<int> in_flight{0};
  std::atomic<int64_t> attempts{0};
  std::atomic<int64_t> failed_attempts{0};
  std::atomic<uint64_t> drain_turn{0};  // counts changes: odd while it is draining
};

/// The right to use one endpoint, counted as in flight from Acquire until it is destroyed or
/// released. Thread-compatible; may end on any thread.
class Lease {
 public:
  /// `endpoint` is borrowed: whoever holds the lease keeps its configuration snapshot.
  Lease(std::shared_ptr<EndpointState> state, std::shared_ptr<const UpstreamAddress> address,
        const config::Endpoint& endpoint);
  ~Lease() { Release(); }
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;

  /// The attempt it was for came to nothing.
  void CountFailure() { state_->failed_attempts.fetch_add(1, std::memory_order_relaxed); }

  /// Ends the lease early; the name and address stay readable until the lease is moved from.
  void Release();

  const config::Endpoint& endpoint() const { return *endpoint_; }
  const UpstreamAddress& address() const { return *address_; }

 private:
  std::shared_ptr<EndpointState> state_;  // null once released
  std::shared_ptr<const UpstreamAddress> address_;
  const config::Endpoint* endpoint_;
};

/// The runtime state of all endpoints, by name. Thread-safe.
class EndpointTable {
 public:
  /// Leases the next endpoint of `pool`, in turn, that is eligible and not draining; nothing when
  /// there is none.
  std::optional<Lease> Acquire(const config::Pool& pool,
                               absl::FunctionRef<bool(const config::Endpoint&)> eligible);

  /// Whether Acquire leases it, if it is eligible.
  bool Takes(const config::Pool& pool, const config::Endpoint& endpoint) const;

  /// A draining endpoint is leased no more; the leases it has go on. Returns whether that changed
  /// anything.
  bool SetDraining(absl::string_view name, bool draining);
  /// Forgets endpoints that `config` does not have: one that is leased stays until a later call,
  /// but a drain of it is over.
  void ForgetAllBut(const config::Config& config);

  struct Reading {
    std::string name;
    int in_flight = 0;  // leases held
    int64_t attempts = 0;
    int64_t failed_attempts = 0;
    uint64_t drain_turn = 0;  // unlike for each drain; odd while it is draining
    bool draining() const { return drain_turn % 2 == 1; }
  };
  /// One endpoint; zeros for one that was never used.
  Reading Read(absl::string_view name) const;
  /// All that were ever used or drained, by name.
  std::vector<Reading> ReadAll() const;

 private:
  const std::shared_ptr<EndpointState>& StateOf(absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsDraining(absl::string_view name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<EndpointState>, std::less<>> states_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t, std::less<>> turns_ ABSL_GUARDED_BY(mutex_);  // by pool id
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_ENDPOINT_TABLE_H_
