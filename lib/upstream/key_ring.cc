#include "lib/upstream/key_ring.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/upstream/picker.h"

namespace sluice::upstream {
namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(1);
constexpr Duration kLongestBackoff = std::chrono::seconds(60);
constexpr Duration kLongestRest = std::chrono::hours(1);

std::string NameOf(const config::Pool& pool, const config::Key& key) {
  return absl::StrCat(pool.id, "/", key.id);
}

}  // namespace

void KeyUse::AddTo(HeaderList& headers) const {
  const absl::string_view secret = snapshot_->SecretOf(*pool_, *key_).Reveal();
  const bool bearer = absl::EqualsIgnoreCase(pool_->key_header, "Authorization");
  headers.Set(pool_->key_header, absl::StrCat(bearer ? "Bearer " : "", secret));
}

void KeyUse::See(const ResponseHead& answer) const {
  ring_->See(*snapshot_, *pool_, *key_, answer);
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

void KeyRing::See(const config::Snapshot& snapshot, const config::Pool& pool,
                  const config::Key& key, const ResponseHead& answer) {
  MutexLock lock(&mutex_);
  State& state = states_[NameOf(pool, key)];
  switch (answer.status) {
    case 401:
    case 402:
    case 403:
      if (state.refused_in < snapshot.generation()) {
        Log(LogLevel::kWarning, "upstream key refused: out of use until the configuration changes",
            {{"pool", pool.id}, {"key", key.id}, {"status", answer.status}});
        Tell(pool, key, KeyStateChanged::State::kRefused, state);
      }
      state.refused_in = std::max(state.refused_in, snapshot.generation());
      break;
    case 429:
      if (Rest(state, answer.headers.Find("Retry-After")) &&
          state.told != KeyStateChanged::State::kRefused) {
        Tell(pool, key, KeyStateChanged::State::kResting, state);
      }
      break;
    default:
      if (answer.status < 300) state.backoff = Duration(0);
      break;
  }
}

bool KeyRing::Rest(State& state, const std::string* retry_after) const {
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
  state.rests_until = now + state.backoff;
  return true;
}

void KeyRing::Tell(const config::Pool& pool, const config::Key& key, KeyStateChanged::State now,
                   State& state) {
  state.told = now;
  KeyStateChanged change{.pool = pool.id, .key_id = key.id, .state = now};
  if (now == KeyStateChanged::State::kResting) {
    change.until = clock_.WallNow() + absl::FromChrono(state.rests_until - clock_.Now());
  }
  on_change_(std::move(change));
}

bool KeyRing::IsUsable(const config::Snapshot& snapshot, const config::Pool& pool,
                       const config::Key& key) const {
  const auto found = states_.find(NameOf(pool, key));
  if (found == states_.end()) return true;
  const State& state = found->second;
  const bool refused = state.refused_in != 0 && snapshot.generation() <= state.refused_in;
  return !refused && clock_.Now() >= state.rests_until;
}

std::optional<Duration> ParseRetryAfter(absl::string_view value, absl::Time now) {
  value = absl::StripAsciiWhitespace(value);
  if (!value.empty() && std::all_of(value.begin(), value.end(),
                                    [](unsigned char c) { return absl::ascii_isdigit(c); })) {
    uint64_t seconds = std::numeric_limits<uint64_t>::max();
    if (!absl::SimpleAtoi(value, &seconds) || seconds > 3600) return kLongestRest;
    return std::chrono::seconds(seconds);
  }
  absl::Time at;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", value, &at, &error)) return std::nullopt;
  return std::clamp(absl::ToChronoNanoseconds(at - now), Duration(0), kLongestRest);
}

}  // namespace sluice::upstream
