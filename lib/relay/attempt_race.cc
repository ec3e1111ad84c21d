#include "lib/relay/attempt_race.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace sluice::relay {
namespace {

/// How much an outcome is worth: the more, the better.
enum class Worth { kNone, kFailed, kStands, kGood };

Worth WorthOf(const std::optional<AttemptOutcome>& outcome) {
  if (!outcome.has_value()) return Worth::kNone;
  const auto* held = std::get_if<HeldAnswer>(&*outcome);
  if (held == nullptr) return Worth::kFailed;
  return held->standing.has_value() ? Worth::kStands : Worth::kGood;
}

}  // namespace

AttemptRace::AttemptRace(Branches& branches, ParkingLot& parking_lot)
    : branches_(branches), parking_(parking_lot.NewParking()) {}

void AttemptRace::Begin(std::function<AttemptOutcome()> attempt) {
  Contender& contender = contenders_.emplace_back();
  const auto run = [this, &contender, attempt = std::move(attempt)] {
    contender.outcome.emplace(attempt());
    contender.place = ++ended_;
    parking_->Wake();
  };
  contender.branch = branches_.Begin(run);
  if (contender.branch == nullptr) run();
}

bool AttemptRace::AwaitDecision(Instant deadline) {
  while (!Decided()) {
    if (parking_->Park(deadline) != WaitResult::kOk) return Decided();
  }
  return true;
}

void AttemptRace::EndOthers() {
  for (Contender& contender : contenders_) {
    contender.cut = !contender.outcome.has_value();
    contender.branch = nullptr;
  }
}

size_t AttemptRace::running() const {
  return static_cast<size_t>(
      std::count_if(contenders_.begin(), contenders_.end(),
                    [](const Contender& contender) { return !contender.outcome.has_value(); }));
}

size_t AttemptRace::Decisive() const {
  const auto best = std::max_element(
      contenders_.begin(), contenders_.end(), [](const Contender& a, const Contender& b) {
        const Worth worth = WorthOf(a.outcome);
        if (worth != WorthOf(b.outcome)) return worth < WorthOf(b.outcome);
        // Of good answers the first, of failures the last.
        return worth == Worth::kFailed ? a.place < b.place : a.place > b.place;
      });
  return static_cast<size_t>(best - contenders_.begin());
}

bool AttemptRace::Decided() const {
  return running() == 0 ||
         std::any_of(contenders_.begin(), contenders_.end(), [](const Contender& contender) {
           return WorthOf(contender.outcome) == Worth::kGood;
         });
}

}  // namespace sluice::relay
