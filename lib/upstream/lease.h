#ifndef SLUICE_LIB_UPSTREAM_LEASE_H_
#define SLUICE_LIB_UPSTREAM_LEASE_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/upstream_address.h"
#include "lib/upstream/health.h"
#include "lib/upstream/outcome.h"
#include "lib/upstream/pool_members.h"

namespace sluice::upstream {

class EndpointTable;

/// The right to make one attempt at one endpoint, counted as in flight from Acquire until it is
/// destroyed or released. Its table outlives it. Thread-compatible; may end on any thread.
class Lease {
 public:
  ~Lease() { Release(); }
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;

  /// The attempt came to nothing.
  void CountFailure();
  /// The first frame of a good answer came so long after the attempt began. Before Report.
  void FirstFrameAfter(Duration time);
  /// The attempt was ended when no frame had come for so long. Before Report.
  void NoFrameFor(Duration time);
  /// How the attempt ended: once, and before Release. A lease that ends without has nothing to say
  /// about its endpoint. `rest`: for how long the endpoint asks to be left alone (RestOf).
  void Report(Outcome outcome, Cause cause, std::optional<Duration> rest = std::nullopt);

  /// Ends the lease early; all below stays readable until the lease is moved from.
  void Release();

  /// "a", or "a@10.0.0.1": what tells it from the other endpoints of the pool.
  const std::string& id() const { return member_->id; }
  /// "pools/chat/endpoints/" and the id.
  const std::string& name() const { return member_->state->name; }
  const config::Endpoint& endpoint() const { return *member_->endpoint; }
  const UpstreamAddress& address() const { return member_->address; }

 private:
  friend class EndpointTable;
  Lease(EndpointTable& table, std::shared_ptr<const Member> member, Health::Era era, bool trial)
      : table_(&table), member_(std::move(member)), era_(era), trial_(trial) {}

  EndpointTable* table_;  // null once released
  std::shared_ptr<const Member> member_;
  Health::Era era_;
  bool trial_;  // and nothing was reported yet
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_LEASE_H_
