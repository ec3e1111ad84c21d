#include "lib/upstream/health.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sluice::upstream {
namespace {

using std::chrono::seconds;

constexpr int kEnoughForARatio = 20;
constexpr double kFirstShare = 0.1;

int64_t SecondOf(Instant at) {
  return std::chrono::duration_cast<seconds>(at.time_since_epoch()).count();
}

}  // namespace

void Health::Recent::Add(bool failure, Instant now) {
  const int64_t at = SecondOf(now);
  Second& second = seconds_[static_cast<size_t>(at) % seconds_.size()];
  if (second.at != at) second = {.at = at, .count = {}};
  ++second.count.all;
  if (failure) ++second.count.failures;
}

Health::Recent::Count Health::Recent::Last10Seconds(Instant now) const {
  Count sum;
  for (const Second& second : seconds_) {
    if (second.at <= SecondOf(now) - static_cast<int64_t>(seconds_.size())) continue;
    sum.failures += second.count.failures;
    sum.all += second.count.all;
  }
  return sum;
}

double Health::ShareOfWeight(Instant now, Duration slow_start) const {
  const Duration well_for = now - well_since_;
  if (ejections_ == 0 || well_for >= slow_start) return 1;
  return kFirstShare + (1 - kFirstShare) * (static_cast<double>(well_for.count()) /
                                            static_cast<double>(slow_start.count()));
}

bool Health::Takes(Instant now) const {
  switch (state_) {
    case State::kWell:
      return true;
    case State::kEjected:
      return !by_probe_ && now >= until_;
    case State::kTrial:
      return !trial_running_;
  }
  return false;
}

bool Health::Begin(Era* era) {
  *era = ejections_;
  if (state_ == State::kWell) return false;
  trial_running_ = true;
  return std::exchange(state_, State::kTrial) != State::kTrial;
}

bool Health::FirstFrame(Era era, Instant now) {
  return era == ejections_ && state_ == State::kTrial && Readmit(now);
}

bool Health::End(Era era, Outcome outcome, Instant now, const config::Health& rules,
                 MayEject may_eject) {
  if (era != ejections_) return false;
  const bool on_trial = state_ == State::kTrial;
  switch (outcome) {
    case Outcome::kNeutral:
      trial_running_ = false;
      return false;
    case Outcome::kSuccess:
      if (on_trial) return Readmit(now);
      consecutive_failures_ = 0;
      recent_.Add(/*failure=*/false, now);
      return false;
    case Outcome::kFailure:
      break;
  }
  ++consecutive_failures_;
  recent_.Add(/*failure=*/true, now);
  std::string complaint = on_trial ? "it failed on trial" : Complaint(now, rules);
  if (complaint.empty() || (!on_trial && !may_eject())) return false;
  Eject(now, rules, std::move(complaint));
  return true;
}

bool Health::Probed(bool ok, absl::string_view detail, Instant now, const config::Probe& probe,
                    MayEject may_eject) {
  if (ok) {
    probes_failed_ = 0;
    ++probes_passed_;
    if (!by_probe_ || probes_passed_ < probe.healthy_after) return false;
    if (now >= until_) return Readmit(now);
    by_probe_ = false;  // but its attempts had failed as well
    return true;
  }
  probes_passed_ = 0;
  ++probes_failed_;
  if (by_probe_ || probes_failed_ < probe.unhealthy_after) return false;
  if (state_ == State::kWell) {
    if (!may_eject()) return false;
    until_ = now;  // as far as attempts are concerned
  }
  by_probe_ = true;
  Leave(State::kEjected,
        absl::StrCat(probes_failed_, " probes failed in a row, the last: ", detail));
  return true;
}

bool Health::ForgetProbes(Instant now) {
  probes_failed_ = 0;
  probes_passed_ = 0;
  if (!std::exchange(by_probe_, false)) return false;
  until_ = std::max(until_, now);
  return true;
}

bool Health::Readmit(Instant now) {
  if (state_ == State::kWell) return false;
  state_ = State::kWell;
  by_probe_ = false;
  trial_running_ = false;
  consecutive_failures_ = 0;
  recent_.Clear();
  well_since_ = now;
  return true;
}

std::string Health::Complaint(Instant now, const config::Health& rules) const {
  if (rules.consecutive_failures > 0 && consecutive_failures_ >= rules.consecutive_failures) {
    return absl::StrCat(consecutive_failures_, " attempts failed in a row");
  }
  if (rules.failure_ratio <= 0) return "";
  const Recent::Count count = recent_.Last10Seconds(now);
  if (count.all < kEnoughForARatio || count.failures < rules.failure_ratio * count.all) return "";
  return absl::StrCat(count.failures, " of the last ", count.all, " attempts failed");
}

void Health::Eject(Instant now, const config::Health& rules, std::string reason) {
  if (last_ejection_ == Duration(0)) {
    doublings_ = 0;
  } else {
    const Duration well_for = state_ == State::kWell ? now - well_since_ : Duration(0);
    const int64_t forgotten = well_for / last_ejection_;
    doublings_ = static_cast<int>(std::max<int64_t>(0, doublings_ + 1 - forgotten));
  }
  Duration length = rules.ejection;
  for (int i = 0; i < doublings_; ++i) {
    if (length >= rules.longest_ejection) {
      doublings_ = i;
      break;
    }
    length *= 2;
  }
  last_ejection_ = std::min(length, rules.longest_ejection);
  until_ = now + last_ejection_;
  Leave(State::kEjected, std::move(reason));
}

void Health::Leave(State state, std::string reason) {
  state_ = state;
  trial_running_ = false;
  ++ejections_;
  reason_ = std::move(reason);
}

}  // namespace sluice::upstream
