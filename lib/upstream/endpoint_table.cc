#include "lib/upstream/endpoint_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/log.h"

// What gets attempts, and what they say of it. What is known of endpoints by name, for operators,
// is in endpoint_readings.cc.

namespace sluice::upstream {
namespace {

bool IsDraining(const EndpointState& state) {
  return state.drain_turn % 2 == 1 || (state.parent != nullptr && IsDraining(*state.parent));
}

bool IsFull(const Member& member) {
  const int limit = member.endpoint->max_in_flight;
  return limit > 0 && member.state->in_flight.load(std::memory_order_relaxed) >= limit;
}

bool IsWell(const Member& member) { return member.state->health.state() == Health::State::kWell; }

size_t MostOut(const PoolMembers& members) {
  const size_t count = members.all.size();
  return count < 2 ? 0 : count * static_cast<size_t>(members.pool.health.max_ejected_percent) / 100;
}

size_t CountOut(const PoolMembers& members) {
  return members.all.size() -
         static_cast<size_t>(std::count_if(members.all.begin(), members.all.end(), IsWell));
}

}  // namespace

std::variant<Lease, Shortage> EndpointTable::Acquire(const config::Snapshot& snapshot,
                                                     const config::Pool& pool, Eligible eligible,
                                                     const PickKey& key) {
  MutexLock lock(&mutex_);
  const std::shared_ptr<const PoolMembers> members = MembersOf(snapshot, pool);
  const Instant now = clock_.Now();
  if (const std::optional<Shortage> shortage = Look(*members, eligible, now)) return *shortage;
  const size_t chosen = Choose(*pools_.find(pool.id)->second.picker, *members, key, now);
  return Grant({members, &members->all[chosen]});
}

std::optional<Shortage> EndpointTable::Lacks(const config::Snapshot& snapshot,
                                             const config::Pool& pool, Eligible eligible) {
  MutexLock lock(&mutex_);
  return Look(*MembersOf(snapshot, pool), eligible, clock_.Now());
}

std::shared_ptr<const PoolMembers> EndpointTable::Members(const config::Snapshot& snapshot,
                                                          const config::Pool& pool) {
  MutexLock lock(&mutex_);
  return MembersOf(snapshot, pool);
}

std::shared_ptr<const PoolMembers> EndpointTable::MembersOf(const config::Snapshot& snapshot,
                                                            const config::Pool& pool) {
  Pool& entry = pools_[pool.id];
  // An exchange that began before the last change has its pool as it was.
  if (snapshot.generation() < entry.generation) return MakeMembers(pool);
  const bool current = entry.members != nullptr && snapshot.generation() == entry.generation &&
                       (!entry.members->resolves || entry.addresses_edition == addresses_edition_);
  if (!current) Refresh(entry, snapshot, pool);
  return entry.members;
}

std::shared_ptr<const PoolMembers> EndpointTable::MakeMembers(const config::Pool& pool) {
  return std::make_shared<const PoolMembers>(
      pool, addresses_,
      [this](absl::string_view name) ABSL_NO_THREAD_SAFETY_ANALYSIS { return StateOf(name); });
}

void EndpointTable::Refresh(Pool& entry, const config::Snapshot& snapshot,
                            const config::Pool& pool) {
  if (entry.picker == nullptr || !(entry.members->pool.balancing == pool.balancing)) {
    entry.picker = MakePicker(pool.balancing, random_);
  }
  entry.members = MakeMembers(pool);
  entry.generation = snapshot.generation();
  entry.addresses_edition = addresses_edition_;
  for (const Member& member : entry.members->all) {
    member.state->limited = member.endpoint->max_in_flight > 0 || pool.max_in_flight > 0;
  }
  Reconcile(*entry.members);
}

void EndpointTable::Reconcile(const PoolMembers& members) {
  const Instant now = clock_.Now();
  size_t out = CountOut(members);
  for (const Member& member : members.all) {
    Health& health = member.state->health;
    bool changed = members.pool.probe.path.empty() && health.ForgetProbes(now);
    if (out > MostOut(members) && health.Readmit(now)) {
      --out;
      changed = true;
    }
    if (changed) Tell(*member.state);
  }
}

std::optional<Shortage> EndpointTable::Look(const PoolMembers& members, Eligible eligible,
                                            Instant now) {
  open_.clear();
  resting_.clear();
  if (members.all.empty()) return Shortage::kNoneConfigured;
  // How far the best of them came.
  Shortage shortage = Shortage::kAllTried;
  for (size_t i = 0; i < members.all.size(); ++i) {
    const Member& member = members.all[i];
    const EndpointState& state = *member.state;
    if (!eligible(member.id)) continue;
    if (IsDraining(state)) {
      shortage = std::max(shortage, Shortage::kAllDraining);
    } else if (!state.health.Takes(now)) {
      shortage = std::max(shortage, Shortage::kAllEjected);
    } else if (IsFull(member)) {
      shortage = std::max(shortage, Shortage::kAllFull);
    } else {
      (now < state.rests_until ? resting_ : open_).push_back(i);
    }
  }
  if (open_.empty()) open_.swap(resting_);
  if (open_.empty()) return shortage;
  return std::nullopt;
}

size_t EndpointTable::Choose(Picker& picker, const PoolMembers& members, const PickKey& key,
                             Instant now) {
  const bool by_latency = members.pool.balancing.policy == config::Balance::kLatency;
  candidates_.clear();
  for (const size_t place : open_) {
    const Member& member = members.all[place];
    const EndpointState& state = *member.state;
    if (!IsWell(member)) return place;  // its trial
    candidates_.push_back(
        {.name = state.name,
         .weight = static_cast<double>(member.endpoint->weight),
         .warmth = state.health.ShareOfWeight(now, members.pool.health.slow_start),
         .in_flight = state.in_flight.load(std::memory_order_relaxed),
         .first_frame = by_latency ? state.first_frame.Value(now) : Duration(0)});
  }
  return open_[picker.Pick(key, candidates_)];
}

Lease EndpointTable::Grant(std::shared_ptr<const Member> member) {
  EndpointState& state = *member->state;
  if (std::exchange(state.forgotten, false)) states_.emplace(state.name, member->state);
  state.in_flight.fetch_add(1, std::memory_order_relaxed);
  state.attempts.fetch_add(1, std::memory_order_relaxed);
  Health::Era era = 0;
  if (state.health.Begin(&era)) Tell(state);
  const bool trial = state.health.state() == Health::State::kTrial;
  return Lease(*this, std::move(member), era, trial);
}

void EndpointTable::SeeFirstFrame(const Member& member, Health::Era era, Duration time) {
  EndpointState& state = *member.state;
  {
    MutexLock lock(&mutex_);
    const Instant now = clock_.Now();
    state.first_frame.Observe(time, now);
    if (!state.health.FirstFrame(era, now)) return;
    Tell(state);
  }
  if (state.limited.load(std::memory_order_relaxed)) listeners_.on_free(state.pool);
}

void EndpointTable::SeeNoFrame(const Member& member, Duration time) {
  MutexLock lock(&mutex_);
  member.state->first_frame.ObserveAtLeast(time, clock_.Now());
}

void EndpointTable::SeeEnd(const Member& member, Health::Era era, const End& end) {
  EndpointState& state = *member.state;
  {
    MutexLock lock(&mutex_);
    const Instant now = clock_.Now();
    if (end.outcome == Outcome::kFailure) {
      state.last_failure = end.cause;
      state.last_failure_at = clock_.WallNow();
    }
    if (end.rest.has_value()) state.rests_until = std::max(state.rests_until, now + *end.rest);
    const auto may_eject = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return MayEject(state.pool); };
    if (!state.health.End(era, end.outcome, now, member.pool->health, may_eject)) return;
    Tell(state);
    if (state.health.state() != Health::State::kWell) return;
  }
  if (state.limited.load(std::memory_order_relaxed)) listeners_.on_free(state.pool);
}

void EndpointTable::SeeProbe(const Member& member, bool ok, absl::string_view detail) {
  EndpointState& state = *member.state;
  {
    MutexLock lock(&mutex_);
    const auto found = pools_.find(state.pool);
    if (found == pools_.end()) return;
    const config::Probe& probe = found->second.members->pool.probe;
    if (probe.path.empty()) return;  // by now: no other probe would take it back
    const auto may_eject = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return MayEject(state.pool); };
    if (!state.health.Probed(ok, detail, clock_.Now(), probe, may_eject)) return;
    Tell(state);
    if (state.health.state() != Health::State::kWell) return;
  }
  if (state.limited.load(std::memory_order_relaxed)) listeners_.on_free(state.pool);
}

bool EndpointTable::MayEject(const std::string& pool) const {
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return false;
  const PoolMembers& members = *found->second.members;
  return CountOut(members) < MostOut(members);
}

void EndpointTable::Tell(const EndpointState& state) {
  EndpointStateChanged change{.pool = state.pool, .endpoint = state.name};
  const Health& health = state.health;
  switch (health.state()) {
    case Health::State::kWell:
      Log(LogLevel::kInfo, "endpoint is well again", {{"endpoint", state.name}});
      change.state = EndpointStateChanged::State::kActive;
      change.detail = "it is well again";
      break;
    case Health::State::kEjected:
      change.state = EndpointStateChanged::State::kEjected;
      change.detail = health.reason();
      change.until = WallOf(health.ejected_until());
      Log(LogLevel::kWarning, "endpoint ejected",
          {{"endpoint", state.name},
           {"reason", health.reason()},
           {"until", change.until == absl::InfiniteFuture()
                         ? "probes find it well"
                         : absl::FormatTime(change.until, absl::UTCTimeZone())}});
      break;
    case Health::State::kTrial:
      Log(LogLevel::kInfo, "endpoint is on trial", {{"endpoint", state.name}});
      change.state = EndpointStateChanged::State::kTrial;
      break;
  }
  listeners_.on_change(std::move(change));
}

absl::Time EndpointTable::WallOf(Instant at) const {
  if (at == kNever) return absl::InfiniteFuture();
  return clock_.WallNow() + absl::FromChrono(at - clock_.Now());
}

}  // namespace sluice::upstream
