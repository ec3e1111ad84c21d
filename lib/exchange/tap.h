#ifndef SLUICE_LIB_EXCHANGE_TAP_H_
#define SLUICE_LIB_EXCHANGE_TAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/observer.h"

namespace sluice {

/// The frames of one running exchange, copied for one reader. Bounded: what does not fit because
/// the reader is slow is counted and lost; the exchange never waits. Thread-safe.
class Tap {
 public:
  /// Of a longer frame, only the beginning is copied.
  static constexpr size_t kMaxFrameBytes = size_t{64} << 10;
  /// What may lie here unread.
  static constexpr size_t kMaxHeldBytes = size_t{1} << 20;
  static constexpr size_t kMaxHeldFrames = 4096;

  struct Frame {
    uint64_t index = 0;
    Instant at;
    std::string event;
    std::string data;
    uint64_t data_bytes = 0;  // of the whole frame
  };
  struct Batch {
    uint64_t lost = 0;  // before `frames`
    std::vector<Frame> frames;
    std::optional<Cause> ended;  // nothing comes after `frames` any more
  };

  void Put(const FrameInfo& frame);
  void End(Cause cause);

  /// What came since the last call. A loss ends a batch and is told in the next one, before what
  /// followed it; `ended` waits for that.
  Batch Take();

 private:
  Mutex mutex_;
  uint64_t lost_before_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Frame> frames_ ABSL_GUARDED_BY(mutex_);
  size_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t lost_after_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Cause> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_TAP_H_
