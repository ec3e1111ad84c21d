#ifndef SLUICE_LIB_RELAY_POOL_ATTEMPTS_H_
#define SLUICE_LIB_RELAY_POOL_ATTEMPTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/admission/slots.h"
#include "lib/exchange/cancellation.h"
#include "lib/relay/attempt.h"
#include "lib/relay/attempt_race.h"
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
  Duration soonest = Duration::max();  // until a pool may do better; max: none will, as it stands
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

  // After Run gave nothing:

  /// Whether another pool may do better.
  bool may_go_on() const { return may_go_on_; }
  /// How long until this one may; nothing if it will not before its keys or the configuration
  /// change.
  std::optional<Duration> UsableIn() const;

 private:
  enum class Entry {
    kDone,
    kFull,     // room may come
    kNothing,  // there is room, but no pair to be had
  };

  /// Goes by `snapshot`, of which `pool` is, from here on.
  void Pin(std::shared_ptr<const config::Snapshot> snapshot, const config::Pool& pool);
  /// An attempt that was begun.
  struct Begun {
    upstream::Pair pair;
    size_t index;  // in the record
    Instant started;
    std::optional<OutboundRequest> request = {};  // where it is not that of all attempts
    UpstreamStamps stamps = {};                   // while it runs beside another one
  };

  /// As the pool wants the request.
  void Prepare();
  /// Takes a place in the pool and the first pair; waits in its queue if that is what it takes.
  bool Enter(Fruitless& fruitless);
  Entry TryEnter(Fruitless& fruitless);
  /// Acquires `pair_`, or says why it cannot.
  std::optional<upstream::Shortage> NextPair();
  bool MayAttemptAgain() const;
  bool OthersRemain(const upstream::Pair& pair, upstream::Spent spent) const;
  Begun Begin(upstream::Pair pair);
  AttemptOutcome Attempt(Begun& begun);
  const OutboundRequest& RequestOf(Begun& begun);
  /// Attempt, and another one beside it if it is slow; `begun` becomes the one that decided. The
  /// other one has failed.
  AttemptOutcome AttemptHedged(Begun& begun, Fruitless& fruitless);
  std::optional<upstream::Pair> PairBeside(const upstream::Pair& first);
  /// It came to nothing, but the pool may have another.
  void Fail(Begun& begun, AttemptFailure failure, Fruitless& fruitless);
  /// The other one decided. `cut`: before this one had ended.
  void Dismiss(Begun& begun, AttemptOutcome outcome, bool cut, Fruitless& fruitless);
  Served Serve(Begun begun, HeldAnswer held, Fruitless& fruitless);

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
  bool no_key_ = false;                 // was usable when a pair was wanted last
  const AttemptRace* race_ = nullptr;   // while attempts run side by side
  upstream::Tried tried_;
  int remaining_;  // attempts
  bool may_go_on_ = true;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_POOL_ATTEMPTS_H_
