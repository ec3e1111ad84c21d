#include "lib/upstream/endpoint_table.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/upstream/picker.h"

namespace sluice::upstream {
namespace {

EndpointTable::Reading ReadingOf(const EndpointState& state) {
  return {.name = state.name,
          .in_flight = state.in_flight.load(std::memory_order_relaxed),
          .attempts = state.attempts.load(std::memory_order_relaxed),
          .failed_attempts = state.failed_attempts.load(std::memory_order_relaxed),
          .drain_turn = state.drain_turn.load(std::memory_order_relaxed)};
}

}  // namespace

std::string EndpointName(const config::Pool& pool, const config::Endpoint& endpoint) {
  return absl::StrCat("pools/", pool.id, "/endpoints/", endpoint.id);
}

Lease::Lease(std::shared_ptr<EndpointState> state, std::shared_ptr<const UpstreamAddress> address,
             const config::Endpoint& endpoint)
    : state_(std::move(state)), address_(std::move(address)), endpoint_(&endpoint) {
  state_->in_flight.fetch_add(1, std::memory_order_relaxed);
  state_->attempts.fetch_add(1, std::memory_order_relaxed);
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Release();
    state_ = std::move(other.state_);
    address_ = std::move(other.address_);
    endpoint_ = other.endpoint_;
  }
  return *this;
}

void Lease::Release() {
  if (state_ == nullptr) return;
  state_->in_flight.fetch_sub(1, std::memory_order_relaxed);
  state_ = nullptr;
}

std::optional<Lease> EndpointTable::Acquire(
    const config::Pool& pool, absl::FunctionRef<bool(const config::Endpoint&)> eligible) {
  MutexLock lock(&mutex_);
  uint64_t& turn = turns_[pool.id];
  std::string name;  // of the candidate last looked at
  const std::optional<size_t> picked = PickRoundRobin(turn, pool.endpoints.size(), [&](size_t i) {
    if (!eligible(pool.endpoints[i])) return false;
    name = EndpointName(pool, pool.endpoints[i]);
    return !IsDraining(name);
  });
  if (!picked.has_value()) return std::nullopt;
  turn = *picked + 1;
  const config::Endpoint& endpoint = pool.endpoints[*picked];
  auto address = std::make_shared<UpstreamAddress>();
  address->uri = ParseEndpointUri(endpoint.uri).value();  // Validate has seen it
  address->tls = pool.tls;
  return Lease(StateOf(name), std::move(address), endpoint);
}

bool EndpointTable::Takes(const config::Pool& pool, const config::Endpoint& endpoint) const {
  MutexLock lock(&mutex_);
  return !IsDraining(EndpointName(pool, endpoint));
}

bool EndpointTable::SetDraining(absl::string_view name, bool draining) {
  MutexLock lock(&mutex_);
  std::atomic<uint64_t>& turn = StateOf(name)->drain_turn;
  if ((turn.load(std::memory_order_relaxed) % 2 == 1) == draining) return false;
  turn.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void EndpointTable::ForgetAllBut(const config::Config& config) {
  std::set<std::string> configured;
  for (const config::Pool& pool : config.pools) {
    for (const config::Endpoint& endpoint : pool.endpoints) {
      configured.insert(EndpointName(pool, endpoint));
    }
  }
  MutexLock lock(&mutex_);
  for (auto entry = states_.begin(); entry != states_.end();) {
    EndpointState& state = *entry->second;
    if (configured.count(state.name) > 0) {
      ++entry;
    } else if (state.in_flight.load(std::memory_order_relaxed) == 0) {
      entry = states_.erase(entry);
    } else {
      if (state.drain_turn.load(std::memory_order_relaxed) % 2 == 1) state.drain_turn.fetch_add(1);
      ++entry;
    }
  }
}

EndpointTable::Reading EndpointTable::Read(absl::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = states_.find(name);
  return found == states_.end() ? Reading{.name = std::string(name)} : ReadingOf(*found->second);
}

std::vector<EndpointTable::Reading> EndpointTable::ReadAll() const {
  std::vector<Reading> readings;
  MutexLock lock(&mutex_);
  for (const auto& [name, state] : states_) readings.push_back(ReadingOf(*state));
  return readings;
}

bool EndpointTable::IsDraining(absl::string_view name) const {
  const auto found = states_.find(name);
  return found != states_.end() &&
         found->second->drain_turn.load(std::memory_order_relaxed) % 2 == 1;
}

const std::shared_ptr<EndpointState>& EndpointTable::StateOf(absl::string_view name) {
  auto found = states_.find(name);
  if (found == states_.end()) {
    found = states_.emplace(name, std::make_shared<EndpointState>(std::string(name))).first;
  }
  return found->second;
}

}  // namespace sluice::upstream
