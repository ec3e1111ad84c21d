#ifndef SLUICE_LIB_RELAY_POOL_ATTEMPTS_H_
#define SLUICE_LIB_RELAY_POOL_ATTEMPTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/admission/slots.h"
#include "lib/exchange/cancellation.h"
#include "lib/relay/attempt.h"
#include "lib/relay/intake.h"
#include "lib/relay/live_exchange.h"
#include "lib/relay/pass_rules.h"
#include "lib/relay/proxy.h"
#include "lib/relay/soonest_retry.h"
#include "lib/upstream/pair.h"
#include "lib/upstream/tried.h"

namespace sluice::relay {

/// What an exchange has come to without an answer worth committing, over all pools tried.
struct Fruitless {
  std::optional<AttemptFailure> last;  // of all attempts
  std::optional<WholeAnswer> kept;     // the last answer worth having
  SoonestRetry soonest_retry;          // of all answers
  std::optional<Duration> keys_rest;   // until the first resting key of a pool may be used again
  std::string shortage;  // why the last pool that made no attempt did not; "": all did
};

/// An answer worth committing, with what it holds of its pool.
struct Served {
  std::shared_ptr<const config::Snapshot> snapshot;
  const config::Pool& pool;  // of it
  admission::Slot slot;
  upstream::Pair pair;
  HeldAnswer held;
  PassRules rules;
};

/// The attempts of an exchange at one pool: waits for a place in it, then tries its endpoints and
/// keys. Confined to the exchange's fiber.
class PoolAttempts {
 public:
  /// `others`: whether another pool follows this one. All must outlive it.
  PoolAttempts(const ProxyDeps& deps, const Cancellation& cancellation, const Intake& intake,
               const config::Destination& destination, bool others, LiveExchange& exchange);

  /// An answer worth committing; else adds to `fruitless`. A request that waits for a place goes by
  /// the configuration in force when it gets one.
  std::optional<Served> Run(Fruitless& fruitless);

  /// After Run gave nothing: whether another pool may do better.
  bool may_go_on() const { return may_go_on_; }

 private:
  enum class Entry {
    kDone,
    kFull,     // room may come
    kNothing,  // there is room, but no pair to be had
  };

  /// Goes by `snapshot`, of which `pool` is, from here on.
  void Pin(std::shared_ptr<const config::Snapshot> snapshot, const config::Pool& pool);
  /// As the pool wants the request.
  void Prepare();
  /// Takes a place in the pool and the first pair; waits in its queue if that is what it takes.
  bool Enter(Fruitless& fruitless);
  Entry TryEnter(Fruitless& fruitless);
  /// Acquires `pair_`, or says why it cannot.
  /// `fruitless` learns when keys may be used again, if none is usable now.
  std::optional<upstream::Shortage> NextPair(Fruitless& fruitless);
  void NoteRestingKeys(Fruitless& fruitless) const;
  bool MayAttemptAgain() const;
  bool OthersRemain(const upstream::Pair& pair, upstream::Spent spent) const;
  AttemptOutcome Attempt(const upstream::Pair& pair);

  const ProxyDeps& deps_;
  const Cancellation& cancellation_;
  const Intake& intake_;
  const config::Destination& destination_;
  const bool others_;
  LiveExchange& exchange_;
  std::shared_ptr<const config::Snapshot> snapshot_;
  const config::Pool* pool_;
  std::string body_;  // as this pool gets it; "": as the client sent it
  bool usage_is_ours_ = false;
  OutboundRequest outbound_;
  std::optional<uint64_t> hash_;  // for the pool's picker
  std::vector<uint64_t> prefix_;  // the same
  Limit hold_budget_;
  std::optional<admission::Slot> slot_;
  std::optional<upstream::Pair> pair_;  // for the next attempt
  upstream::Tried tried_;
  int remaining_;  // attempts
  bool may_go_on_ = true;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_POOL_ATTEMPTS_H_
