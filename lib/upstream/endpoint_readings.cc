#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "lib/upstream/endpoint_table.h"

// The part of the endpoint table that is asked by name: drains, readings, what is forgotten.

namespace sluice::upstream {
namespace {

/// "chat" of "pools/chat/endpoints/a".
std::string PoolOfName(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  return parts.size() == 4 ? std::string(parts[1]) : "";
}

}  // namespace

void EndpointTable::SetAddresses(absl::string_view host, std::vector<std::string> ips) {
  std::sort(ips.begin(), ips.end());
  ips.erase(std::unique(ips.begin(), ips.end()), ips.end());
  MutexLock lock(&mutex_);
  for (auto entry = states_.begin(); entry != states_.end();) {
    EndpointState& state = *entry->second;
    const bool gone = state.host == host && !std::binary_search(ips.begin(), ips.end(), state.ip) &&
                      state.parent != nullptr &&
                      state.in_flight.load(std::memory_order_relaxed) == 0;
    state.forgotten = gone;
    entry = gone ? states_.erase(entry) : std::next(entry);
  }
  const auto known = addresses_.find(host);
  if (known == addresses_.end() ? ips.empty() : known->second == ips) return;
  ++addresses_edition_;
  if (ips.empty()) {
    addresses_.erase(known);
  } else {
    addresses_[std::string(host)] = std::move(ips);
  }
}

bool EndpointTable::SetDraining(absl::string_view name, bool draining) {
  std::string pool;
  {
    MutexLock lock(&mutex_);
    EndpointState& state = *StateOf(name);
    if ((state.drain_turn % 2 == 1) == draining) return false;
    ++state.drain_turn;
    pool = state.pool;
  }
  if (!draining) listeners_.on_free(pool);
  return true;
}

void EndpointTable::ForgetAllBut(const config::Config& config) {
  std::map<std::string, bool> configured;  // to whether it is looked up
  for (const config::Pool& pool : config.pools) {
    for (const config::Endpoint& endpoint : pool.endpoints) {
      configured[EndpointName(pool, endpoint)] = endpoint.resolve;
    }
  }
  const std::set<std::string> hosts = HostsToResolve(config);
  MutexLock lock(&mutex_);
  for (auto entry = states_.begin(); entry != states_.end();) {
    EndpointState& state = *entry->second;
    const auto found = configured.find(state.parent != nullptr ? state.parent->name : state.name);
    const bool known = found != configured.end() && (state.parent == nullptr || found->second);
    if (known) {
      ++entry;
      continue;
    }
    if (state.drain_turn % 2 == 1) ++state.drain_turn;
    state.forgotten = state.in_flight.load(std::memory_order_relaxed) == 0;
    entry = state.forgotten ? states_.erase(entry) : std::next(entry);
  }
  std::erase_if(addresses_, [&](const auto& entry) { return hosts.count(entry.first) == 0; });
  std::erase_if(pools_, [&config](const auto& entry) {
    return std::none_of(config.pools.begin(), config.pools.end(),
                        [&entry](const config::Pool& pool) { return pool.id == entry.first; });
  });
}

EndpointTable::Reading EndpointTable::Read(absl::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = states_.find(name);
  Reading reading =
      found == states_.end() ? Reading{.name = std::string(name)} : ReadingOf(*found->second);
  const std::string addresses = absl::StrCat(name, "@");
  for (auto entry = states_.lower_bound(addresses);
       entry != states_.end() && absl::StartsWith(entry->first, addresses); ++entry) {
    const Reading more = ReadingOf(*entry->second);
    reading.in_flight += more.in_flight;
    reading.attempts += more.attempts;
    reading.failed_attempts += more.failed_attempts;
    reading.ejections += more.ejections;
  }
  return reading;
}

std::vector<EndpointTable::Reading> EndpointTable::ReadAll() const {
  std::vector<Reading> readings;
  MutexLock lock(&mutex_);
  readings.reserve(states_.size());
  for (const auto& [name, state] : states_) readings.push_back(ReadingOf(*state));
  return readings;
}

EndpointTable::Reading EndpointTable::ReadingOf(const EndpointState& state) const {
  const bool parent_drains = state.parent != nullptr && state.parent->drain_turn % 2 == 1;
  const Instant now = clock_.Now();
  Reading reading{.name = state.name,
                  .in_flight = state.in_flight.load(std::memory_order_relaxed),
                  .attempts = state.attempts.load(std::memory_order_relaxed),
                  .failed_attempts = state.failed_attempts.load(std::memory_order_relaxed),
                  .drain_turn = parent_drains ? state.parent->drain_turn : state.drain_turn,
                  .health = state.health.state(),
                  .ejection_reason = state.health.reason(),
                  .ejections = state.health.ejections(),
                  .consecutive_failures = state.health.consecutive_failures(),
                  .first_frame = state.first_frame.Value(now),
                  .last_failure = state.last_failure,
                  .last_failure_at = state.last_failure_at};
  if (reading.health == Health::State::kEjected) {
    reading.ejected_until = WallOf(state.health.ejected_until());
  }
  if (now < state.rests_until) reading.rests_until = WallOf(state.rests_until);
  if (const auto pool = pools_.find(state.pool); pool != pools_.end()) {
    reading.warmth = state.health.ShareOfWeight(now, pool->second.members->pool.health.slow_start);
  }
  return reading;
}

std::shared_ptr<EndpointState> EndpointTable::StateOf(absl::string_view name) {
  const auto found = states_.find(name);
  if (found != states_.end()) return found->second;
  auto state = std::make_shared<EndpointState>(std::string(name), PoolOfName(name));
  states_.emplace(name, state);
  return state;
}

}  // namespace sluice::upstream
