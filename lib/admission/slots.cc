#include "lib/admission/slots.h"

namespace sluice::admission {

Slot& Slot::operator=(Slot&& other) noexcept {
  if (this == &other) return *this;
  Return();
  slots_ = std::exchange(other.slots_, nullptr);
  name_ = std::move(other.name_);
  return *this;
}

void Slot::GiveBackUnused() {
  if (slots_ != nullptr) std::exchange(slots_, nullptr)->Return(name_, /*unused=*/true);
}

void Slot::Return() {
  if (slots_ != nullptr) std::exchange(slots_, nullptr)->Return(name_, /*unused=*/false);
}

std::optional<Slot> Slots::TryTake(absl::string_view name, int limit) {
  MutexLock lock(&mutex_);
  const auto found = counts_.find(name);
  if (found == counts_.end()) {
    counts_.emplace(name, Count{.in_flight = 1});
    return Slot(this, name);
  }
  Count& count = found->second;
  if (limit > 0 && count.in_flight >= limit) {
    count.refused = true;
    return std::nullopt;
  }
  ++count.in_flight;
  return Slot(this, name);
}

int Slots::Read(absl::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second.in_flight;
}

size_t Slots::size() const {
  MutexLock lock(&mutex_);
  return counts_.size();
}

void Slots::Return(const std::string& name, bool unused) {
  bool tell = false;
  {
    MutexLock lock(&mutex_);
    const auto found = counts_.find(name);
    tell = std::exchange(found->second.refused, false) || !unused;
    if (--found->second.in_flight == 0) counts_.erase(found);
  }
  if (tell && on_free_) on_free_(name);
}

}  // namespace sluice::admission
