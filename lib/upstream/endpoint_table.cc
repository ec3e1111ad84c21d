#include "lib/upstream/endpoint_table.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/upstream/picker.h"

namespace sluice::upstream {

std::string EndpointName(const config::Pool& pool, const config::Endpoint& endpoint) {
  return absl::StrCat("pools/", pool.id, "/endpoints/", endpoint.id);
}

Lease::Lease(std::shared_ptr<EndpointState> state, const config::Endpoint& endpoint)
    : state_(std::move(state)), endpoint_(&endpoint) {
  state_->in_flight.fetch_add(1, std::memory_order_relaxed);
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Release();
    state_ = std::move(other.state_);
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
  const std::optional<size_t> picked = PickRoundRobin(
      turn, pool.endpoints.size(), [&](size_t i) { return eligible(pool.endpoints[i]); });
  if (!picked.has_value()) return std::nullopt;
  turn = *picked + 1;
  const config::Endpoint& endpoint = pool.endpoints[*picked];
  const std::string name = EndpointName(pool, endpoint);
  std::shared_ptr<EndpointState>& state = states_[name];
  if (state == nullptr) state = std::make_shared<EndpointState>(name);
  return Lease(state, endpoint);
}

int EndpointTable::InFlight(absl::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = states_.find(name);
  return found == states_.end() ? 0 : found->second->in_flight.load(std::memory_order_relaxed);
}

}  // namespace sluice::upstream
