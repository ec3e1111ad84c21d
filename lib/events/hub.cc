#include "lib/events/hub.h"

#include <algorithm>
#include <utility>

namespace sluice::events {

Hub::Hub(Options options) : capacity_(std::max<size_t>(options.capacity, 1)) {}

void Hub::Publish(Event event) {
  bool wake = false;
  {
    MutexLock lock(&mutex_);
    event.sequence = ++published_;
    if (ring_.size() < capacity_) {
      ring_.push_back(std::move(event));
    } else {
      // The event that was overwritten is destroyed after the lock is given back.
      std::swap(ring_[(published_ - 1) % capacity_], event);
    }
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

void Hub::Close() {
  {
    MutexLock lock(&mutex_);
    closed_ = true;
  }
  news_.NotifyAll();
}

Hub::Stats Hub::stats() const {
  MutexLock lock(&mutex_);
  return {capacity_, ring_.size(), published_};
}

Reader::Batch Reader::Read() {
  Batch batch;
  batch.events.reserve(kMaxBatch);
  MutexLock lock(&hub_->mutex_);
  const uint64_t overwritten = hub_->published_ - hub_->ring_.size();
  if (position_ < overwritten) {
    batch.lost = overwritten - position_;
    position_ = overwritten;
  }
  while (position_ < hub_->published_ && batch.events.size() < kMaxBatch) {
    batch.events.push_back(hub_->ring_[position_ % hub_->capacity_]);
    ++position_;
  }
  return batch;
}

}  // namespace sluice::events
