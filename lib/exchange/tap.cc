#include "lib/exchange/tap.h"

#include <utility>

namespace sluice {

void Tap::Put(const FrameInfo& frame) {
  const absl::string_view data = frame.data.substr(0, kMaxFrameBytes);
  const size_t bytes = frame.event.size() + data.size();
  MutexLock lock(&mutex_);
  // After a loss all is lost until the reader comes: its place is after what is held.
  if (lost_after_ > 0 || held_bytes_ + bytes > kMaxHeldBytes || frames_.size() == kMaxHeldFrames) {
    ++lost_after_;
    return;
  }
  held_bytes_ += bytes;
  frames_.push_back({.index = frame.index,
                     .at = frame.at,
                     .event = std::string(frame.event),
                     .data = std::string(data),
                     .data_bytes = frame.data.size()});
}

void Tap::End(Cause cause) {
  MutexLock lock(&mutex_);
  ended_ = cause;
}

Tap::Batch Tap::Take() {
  MutexLock lock(&mutex_);
  Batch batch;
  batch.lost = std::exchange(lost_before_, std::exchange(lost_after_, 0));
  batch.frames = std::exchange(frames_, {});
  held_bytes_ = 0;
  if (lost_before_ == 0) batch.ended = ended_;
  return batch;
}

}  // namespace sluice
