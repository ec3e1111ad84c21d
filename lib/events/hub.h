#ifndef SLUICE_LIB_EVENTS_HUB_H_
#define SLUICE_LIB_EVENTS_HUB_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "boost/circular_buffer.hpp"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/events/event.h"

namespace sluice::events {

/// A ring of the latest events. Any number of threads publish and read; no publisher ever waits for
/// a reader: one that is too slow finds that events are gone, and is told how many.
///
///   sequence   1 ...  published-size | +1 ............... published | +1 ...
///                     overwritten    | held                  | to come
///
/// Thread-safe. Must outlive its readers.
class Hub {
 public:
  struct Options {
    /// Events held, at least 1. Takes about 80 bytes for each at once, and what the events share.
    size_t capacity = 65536;
  };
  struct Stats {
    size_t capacity = 0;
    size_t size = 0;
    uint64_t published = 0;  // the sequence of the latest event
  };

  Hub() : Hub(Options{}) {}
  explicit Hub(Options options);

  /// Gives `event` the next sequence and keeps it. Costs one short critical section, and a wake-up
  /// only when a thread waits in WaitPast.
  void Publish(Event event);

  /// Waits until an event after `sequence` was published, Close was called, or `timeout` has
  /// passed.
  void WaitPast(uint64_t sequence, Duration timeout);

  /// Changes the capacity and keeps the latest events. Publishers wait while those are moved, about
  /// a millisecond for 65,536; they go on while the others are given up.
  void Resize(size_t capacity);

  /// The position from which a Reader begins with the first event held that is of `time` or later:
  /// with the next event to come if there is none. Events are only roughly in the order of their
  /// times.
  uint64_t PositionAt(absl::Time time) const;

  /// Ends all waiting, now and later. Publishing and reading go on.
  void Close();

  Stats stats() const;

 private:
  friend class Reader;

  /// How many events came before those in ring_.
  uint64_t overwritten() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return published_ - ring_.size();
  }

  mutable Mutex mutex_;
  CondVar news_;
  boost::circular_buffer<Event> ring_ ABSL_GUARDED_BY(mutex_);  // the latest last
  uint64_t published_ ABSL_GUARDED_BY(mutex_) = 0;
  bool someone_waits_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

/// One cursor on a hub: hears each event at most once, in order. Confined to one thread at a time.
class Reader {
 public:
  /// Bounds the critical section that publishers may meet.
  static constexpr size_t kMaxBatch = 128;

  struct Batch {
    uint64_t lost = 0;          // overwritten before they could be read; they come before `events`
    std::vector<Event> events;  // at most kMaxBatch; empty: there are no more yet
  };

  /// Reads what comes after `position`, a sequence that the hub has reached. 0 is the beginning.
  Reader(const Hub& hub, uint64_t position) : hub_(&hub), position_(position) {}

  /// The next events, without waiting.
  Batch Read();

  /// The sequence up to which events were read or counted as lost.
  uint64_t position() const { return position_; }

 private:
  const Hub* hub_;
  uint64_t position_;
};

}  // namespace sluice::events

#endif  // SLUICE_LIB_EVENTS_HUB_H_
