#include "lib/upstream/key_ring.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/upstream/outcome.h"
#include "lib/upstream/retry_after.h"
#include "lib/upstream/round_robin.h"

namespace sluice::upstream {
namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(1);
constexpr Duration kLongestBackoff = std::chrono::seconds(60);
constexpr double kJitter = 0.2;

std::string NameOf(const config::Pool& pool, const config::Key& key) {
  return absl::StrCat(pool.id, "/", key.id);
}

}  // namespace

bool KeyUse::IsIn(absl::string_view text) const {
  return absl::StrContains(text, snapshot_->SecretOf(*pool_, *key_).Reveal());
}

void KeyUse::AddTo(HeaderList& headers) const {
  const absl::string_view secret = snapshot_->SecretOf(*pool_, *key_).Reveal();
  const bool bearer = absl::EqualsIgnoreCase(pool_->key_header, "Authorization");
  headers.Set(pool_->key_header, absl::StrCat(bearer ? "Bearer " : "", secret));
}

void KeyUse::See(const ResponseHead& answer) const {
  ring_->See(*snapshot_, *pool_, *key_, answer.status, answer.headers.Find("Retry-After"));
}

void KeyUse::SeeError(absl::string_view type, absl::string_view code) const {
  ring_->See(*snapshot_, *pool_, *key_, StatusOfError(type, code), nullptr);
}

std::optional<KeyUse> KeyRing::Take(const config::Snapshot& snapshot, const config::Pool& pool,
                                    Eligible eligible) {
  MutexLock lock(&mutex_);
  uint64_t& turn = turns_[pool.id];
  const std::optional<size_t> picked =
      PickRoundRobin(turn, pool.keys.size(), [&](size_t i) ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return IsUsable(snapshot, pool, pool.keys[i]) && eligible(pool.keys[i]);
      });
  if (!picked.has_value()) return std::nullopt;
  turn = *picked + 1;
  const config::Key& key = pool.keys[*picked];
  const auto found = states_.find(NameOf(pool, key));
  if (found != states_.end() && found->second.told != KeyStateChanged::State::kActive) {
    Tell(pool, key, KeyStateChanged::State::kActive, found->second);
  }
  return KeyUse(*this, snapshot, pool, key);
}

bool KeyRing::Has(const config::Snapshot& snapshot, const config::Pool& pool,
                  Eligible eligible) const {
  MutexLock lock(&mutex_);
  return std::any_of(pool.keys.begin(), pool.keys.end(),
                     [&](const config::Key& key) ABSL_NO_THREAD_SAFETY_ANALYSIS {
                       return IsUsable(snapshot, pool, key) && eligible(key);
                     });
}

std::optional<KeyUse> KeyRing::First(const config::Snapshot& snapshot, const config::Pool& pool) {
  MutexLock lock(&mutex_);
  for (const config::Key& key : pool.keys) {
    if (IsUsable(snapshot, pool, key)) return KeyUse(*this, snapshot, pool, key);
  }
  return std::nullopt;
}

std::optional<Duration> KeyRing::UsableIn(const config::Snapshot& snapshot,
                                          const config::Pool& pool) const {
  std::optional<Duration> soonest;
  const Instant now = clock_.Now();
  MutexLock lock(&mutex_);
  for (const config::Key& key : pool.keys) {
    Duration wait(0);
    switch (StateOf(snapshot, pool, key)) {
      case KeyStateChanged::State::kActive:
        break;
      case KeyStateChanged::State::kResting:
        wait = states_.find(NameOf(pool, key))->second.rests_until - now;
        break;
      case KeyStateChanged::State::kRefused:
      case KeyStateChanged::State::kUnreadable:
        continue;
    }
    soonest = std::min(wait, soonest.value_or(wait));
  }
  return soonest;
}

std::vector<KeyRing::Reading> KeyRing::Read(const config::Snapshot& snapshot,
                                            const config::Pool& pool) const {
  std::vector<Reading> readings;
  MutexLock lock(&mutex_);
  for (const config::Key& key : pool.keys) {
    Reading reading{.id = key.id, .state = StateOf(snapshot, pool, key)};
    if (reading.state == KeyStateChanged::State::kResting) {
      reading.until = WallOf(states_.find(NameOf(pool, key))->second.rests_until);
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

void KeyRing::See(const config::Snapshot& snapshot, const config::Pool& pool,
                  const config::Key& key, int status, const std::string* retry_after) {
  MutexLock lock(&mutex_);
  State& state = states_[NameOf(pool, key)];
  switch (status) {
    case 401:
    case 402:
    case 403:
      if (state.refused_in < snapshot.edition()) {
        Log(LogLevel::kWarning, "upstream key refused: out of use until the configuration changes",
            {{"pool", pool.id}, {"key", key.id}, {"status", status}});
        Tell(pool, key, KeyStateChanged::State::kRefused, state);
      }
      state.refused_in = std::max(state.refused_in, snapshot.edition());
      break;
    case 429:
      if (Rest(state, retry_after) && state.told != KeyStateChanged::State::kRefused) {
        Tell(pool, key, KeyStateChanged::State::kResting, state);
      }
      break;
    default:
      if (status < 300) state.backoff = Duration(0);
      break;
  }
}

bool KeyRing::Rest(State& state, const std::string* retry_after) {
  const Instant now = clock_.Now();
  const Instant before = state.rests_until;
  if (retry_after != nullptr) {
    if (const auto asked = ParseRetryAfter(*retry_after, clock_.WallNow())) {
      state.rests_until = std::max(before, now + *asked);
      return state.rests_until > std::max(before, now);
    }
  }
  if (now < before) return false;  // one of several refused together: the same overload
  state.backoff = std::clamp(2 * state.backoff, kFirstBackoff, kLongestBackoff);
  const double spread = 1 + kJitter * (2 * random_.Unit() - 1);
  state.rests_until = now + std::chrono::duration_cast<Duration>(state.backoff * spread);
  return true;
}

void KeyRing::Tell(const config::Pool& pool, const config::Key& key, KeyStateChanged::State now,
                   State& state) {
  state.told = now;
  KeyStateChanged change{.pool = pool.id, .key_id = key.id, .state = now};
  if (now == KeyStateChanged::State::kResting) {
    change.until = WallOf(state.rests_until);
  }
  on_change_(std::move(change));
}

KeyStateChanged::State KeyRing::StateOf(const config::Snapshot& snapshot, const config::Pool& pool,
                                        const config::Key& key) const {
  if (snapshot.SecretOf(pool, key).empty()) return KeyStateChanged::State::kUnreadable;
  const auto found = states_.find(NameOf(pool, key));
  if (found == states_.end()) return KeyStateChanged::State::kActive;
  const State& state = found->second;
  if (state.refused_in != 0 && snapshot.edition() <= state.refused_in) {
    return KeyStateChanged::State::kRefused;
  }
  return clock_.Now() < state.rests_until ? KeyStateChanged::State::kResting
                                          : KeyStateChanged::State::kActive;
}

absl::Time KeyRing::WallOf(Instant at) const {
  return clock_.WallNow() + absl::FromChrono(at - clock_.Now());
}

}  // namespace sluice::upstream
