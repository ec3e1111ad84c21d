#ifndef SLUICE_LIB_RELAY_ATTEMPT_RACE_H_
#define SLUICE_LIB_RELAY_ATTEMPT_RACE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/relay/attempt.h"

namespace sluice::relay {

/// Attempts of one exchange side by side, each in a branch of it. Confined to the exchange's
/// thread.
class AttemptRace {
 public:
  AttemptRace(Branches& branches, ParkingLot& parking_lot);
  AttemptRace(const AttemptRace&) = delete;
  AttemptRace& operator=(const AttemptRace&) = delete;

  /// One more runs while the exchange waits; what it uses must outlive the race. Where there is no
  /// memory for a branch, the exchange waits for it here.
  void Begin(std::function<AttemptOutcome()> attempt);

  /// Waits until one has an answer worth committing, or all have ended. False: the deadline passed
  /// first, or the exchange was cancelled.
  bool AwaitDecision(Instant deadline);
  /// Ends those that still run. All have an outcome then.
  void EndOthers();

  /// How many have not ended.
  size_t running() const;
  /// The one to go on with: a good answer, else an error that stands, else what failed last.
  size_t Decisive() const;
  AttemptOutcome& outcome(size_t i) { return *contenders_[i].outcome; }
  /// Whether it ended because of EndOthers.
  bool cut(size_t i) const { return contenders_[i].cut; }

 private:
  struct Contender {
    std::optional<AttemptOutcome> outcome;
    size_t place = 0;  // among those that ended
    bool cut = false;
    std::unique_ptr<Branch> branch;  // last: ended before the rest is destroyed
  };

  bool Decided() const;

  Branches& branches_;
  const std::shared_ptr<Parking> parking_;
  size_t ended_ = 0;
  std::deque<Contender> contenders_;  // in the order of Begin; they stay where they are
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_ATTEMPT_RACE_H_
