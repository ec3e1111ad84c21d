#include "lib/exchange/cancellation.h"

#include <utility>

namespace sluice {

// `wake_` runs under the lock, so that Detach() is a barrier: a wake never outlives what it wakes.

void Cancellation::OnCancel(std::function<void()> wake) {
  MutexLock lock(&mutex_);
  if (cause_.has_value()) {
    wake();
  } else {
    wake_ = std::move(wake);
  }
}

void Cancellation::Detach() {
  MutexLock lock(&mutex_);
  wake_ = nullptr;
}

bool Cancellation::Cancel(Cause cause, Instant at, absl::string_view detail) {
  MutexLock lock(&mutex_);
  if (cause_.has_value()) return false;
  cause_ = cause;
  fired_at_ = at;
  detail_ = std::string(detail);
  if (wake_) std::exchange(wake_, nullptr)();
  return true;
}

std::optional<Cause> Cancellation::cause() const {
  MutexLock lock(&mutex_);
  return cause_;
}

std::string Cancellation::detail() const {
  MutexLock lock(&mutex_);
  return detail_;
}

std::optional<Instant> Cancellation::fired_at() const {
  MutexLock lock(&mutex_);
  return fired_at_;
}

}  // namespace sluice
