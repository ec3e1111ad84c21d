#ifndef SLUICE_LIB_UPSTREAM_HEALTH_H_
#define SLUICE_LIB_UPSTREAM_HEALTH_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/upstream/outcome.h"

namespace sluice::upstream {

/// Whether one endpoint is well, by how attempts at it and probes of it end. One whose attempts
/// fail is ejected for a time, then on trial: it gets one attempt at a time until one has shown
/// that it is well, or not. One whose probes fail is ejected until they succeed again. Each
/// ejection by attempts is twice as long as the one before, and half as long again for each time
/// the endpoint stayed well as long as that one was. Keeps no clock; thread-compatible.
class Health {
 public:
  enum class State { kWell, kEjected, kTrial };
  /// Names the time between two changes in which an attempt began: what it says later of an
  /// endpoint that was ejected meanwhile does not count any more.
  using Era = uint32_t;
  /// Whether one more endpoint of the pool may be out. Asked only when this one is about to be.
  using MayEject = absl::FunctionRef<bool()>;

  State state() const { return state_; }
  /// Until when it is ejected; kNever: until the probes succeed.
  Instant ejected_until() const { return by_probe_ ? kNever : until_; }
  /// Why it was ejected last; "" before.
  const std::string& reason() const { return reason_; }
  uint32_t ejections() const { return ejections_; }
  int consecutive_failures() const { return consecutive_failures_; }
  /// Of its weight, how much it gets: less than 1 after it came back.
  double ShareOfWeight(Instant now, Duration slow_start) const;

  /// Whether an attempt may begin: it is well, or on trial with no other attempt running.
  bool Takes(Instant now) const;

  // The rest returns whether the state changed, or how long it lasts.

  /// An attempt begins; only if it Takes one. `*era` is for what becomes of it.
  bool Begin(Era* era);
  /// The attempt has brought a first frame: it ends a trial, though what becomes of the rest is for
  /// End.
  bool FirstFrame(Era era, Instant now);
  /// The attempt ended. The trial it was, if it says nothing, is for the next one.
  bool End(Era era, Outcome outcome, Instant now, const config::Health& rules, MayEject may_eject);

  /// A probe ended. `detail`: what was wrong.
  bool Probed(bool ok, absl::string_view detail, Instant now, const config::Probe& probe,
              MayEject may_eject);
  /// There are no probes any more, or none is to be believed: if they ejected it, it is on trial.
  bool ForgetProbes(Instant now);
  /// It is well from now on, whatever was.
  bool Readmit(Instant now);

 private:
  /// How the attempts of the last 10 s ended, to a second.
  class Recent {
   public:
    void Add(bool failure, Instant now);
    void Clear() { seconds_ = {}; }
    struct Count {
      int failures = 0;
      int all = 0;
    };
    Count Last10Seconds(Instant now) const;

   private:
    struct Second {
      int64_t at = 0;
      Count count;
    };
    std::array<Second, 10> seconds_;
  };

  /// Why the failures so far call for an ejection, or "".
  std::string Complaint(Instant now, const config::Health& rules) const;
  void Eject(Instant now, const config::Health& rules, std::string reason);
  void Leave(State state, std::string reason);

  State state_ = State::kWell;
  bool by_probe_ = false;
  bool trial_running_ = false;
  Era ejections_ = 0;
  Instant until_;  // of the last ejection by attempts
  Instant well_since_;
  Duration last_ejection_{0};  // by attempts: its length
  int doublings_ = 0;          // in that
  int consecutive_failures_ = 0;
  int probes_failed_ = 0;  // in a row
  int probes_passed_ = 0;  // in a row
  Recent recent_;
  std::string reason_;
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_HEALTH_H_
