#include "lib/admission/slots.h"

namespace sluice::admission {

Slot& Slot::operator=(Slot&& other) noexcept {
  if (this == &other) return *this;
  Return();
  slots_ = std::exchange(other.slots_, nullptr);
  name_ = std::move(other.name_);
  return *this;
}

void Slot::Return() {
  if (slots_ != nullptr) std::exchange(slots_, nullptr)->Return(name_);
}

std::optional<Slot> Slots::TryTake(absl::string_view name, int limit) {
  MutexLock lock(&mutex_);
  const auto found = counts_.find(name);
  const int in_flight = found == counts_.end() ? 0 : found->second;
  if (limit > 0 && in_flight >= limit) return std::nullopt;
  if (found == counts_.end()) {
    counts_.emplace(name, 1);
  } else {
    ++found->second;
  }
  return Slot(this, name);
}

int Slots::Read(absl::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

size_t Slots::size() const {
  MutexLock lock(&mutex_);
  return counts_.size();
}

void Slots::Return(const std::string& name) {
  {
    MutexLock lock(&mutex_);
    const auto found = counts_.find(name);
    if (--found->second == 0) counts_.erase(found);
  }
  if (on_free_) on_free_(name);
}

}  // namespace sluice::admission
