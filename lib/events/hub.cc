#include "lib/events/hub.h"

#include <algorithm>
#include <utility>

namespace sluice::events {

namespace {

/// Bounds the critical sections of work on many events.
constexpr size_t kStep = 256;

}  // namespace

Hub::Hub(Options options) : ring_(std::max<size_t>(options.capacity, 1), Event()) {
  ring_.clear();  // all of its memory was touched: no publisher waits for the system to give it
}

void Hub::Publish(Event event) {
  bool wake = false;
  Event given_up;  // destroyed after the lock is given back
  {
    MutexLock lock(&mutex_);
    if (ring_.full()) given_up = std::move(ring_.front());
    event.sequence = ++published_;
    ring_.push_back(std::move(event));
    // The slot of the next one has not been touched for a whole round.
    if (ring_.full()) __builtin_prefetch(&ring_.front(), /*for writing*/ 1);
    wake = std::exchange(someone_waits_, false);
  }
  if (wake) news_.NotifyAll();
}

void Hub::WaitPast(uint64_t sequence, Duration timeout) {
  MutexLock lock(&mutex_);
  news_.WaitFor(&mutex_, timeout, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool ready = published_ > sequence || closed_;
    someone_waits_ |= !ready;
    return ready;
  });
}

void Hub::Resize(size_t capacity) {
  capacity = std::max<size_t>(capacity, 1);
  bool fits = false;
  while (!fits) {
    std::vector<Event> given_up;  // destroyed after the lock is given back
    given_up.reserve(kStep);
    MutexLock lock(&mutex_);
    while (ring_.size() > capacity && given_up.size() < kStep) {
      given_up.push_back(std::move(ring_.front()));
      ring_.pop_front();
    }
    fits = ring_.size() <= capacity;
    if (fits) ring_.rset_capacity(capacity);
  }
}

uint64_t Hub::PositionAt(absl::Time time) const {
  const uint64_t end = stats().published;
  uint64_t position = 0;
  while (position < end) {
    MutexLock lock(&mutex_);
    position = std::max(position, overwritten());
    const uint64_t step_end = std::min<uint64_t>(position + kStep, published_);
    while (position < step_end) {
      if (ring_[position - overwritten()].time >= time) return position;
      ++position;
    }
  }
  return position;
}

void Hub::Close() {
  {
    MutexLock lock(&mutex_);
    closed_ = true;
  }
  news_.NotifyAll();
}

Hub::Stats Hub::stats() const {
  MutexLock lock(&mutex_);
  return {ring_.capacity(), ring_.size(), published_};
}

Reader::Batch Reader::Read() {
  Batch batch;
  batch.events.reserve(kMaxBatch);
  MutexLock lock(&hub_->mutex_);
  const uint64_t overwritten = hub_->overwritten();
  if (position_ < overwritten) {
    batch.lost = overwritten - position_;
    position_ = overwritten;
  }
  while (position_ < hub_->published_ && batch.events.size() < kMaxBatch) {
    batch.events.push_back(hub_->ring_[position_ - overwritten]);
    ++position_;
  }
  return batch;
}

}  // namespace sluice::events
