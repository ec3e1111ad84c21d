#ifndef SLUICE_LIB_ADMISSION_WAIT_QUEUE_H_
#define SLUICE_LIB_ADMISSION_WAIT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/config/config.h"
#include "lib/exchange/seams.h"

namespace sluice::admission {

class Ticket;

/// Requests that wait for a full pool, one queue per pool: higher priority first, then who came
/// first. Knows nothing of what they wait for: whoever frees some of it, or raises its limit, calls
/// Signal afterwards, and a request takes of it without a ticket only while HasWaiters is false.
///
/// The first in a queue gets a turn to try when there was a signal since the last one, and the next
/// gets one when a request that had its turn leaves, with or without a share. So one at a time is
/// awake for each signal, and as long as there is something free somebody is. Thread-safe; each
/// call is O(log n), and wakes one at most.
class WaitQueues {
 public:
  /// `clock` must outlive it.
  explicit WaitQueues(const Clock& clock) : clock_(clock) {}
  /// Every Ticket must be gone.
  ~WaitQueues() = default;
  WaitQueues(const WaitQueues&) = delete;
  WaitQueues& operator=(const WaitQueues&) = delete;

  /// A place in the queue of `pool`; nothing if `queue.capacity` or more are in it, whatever their
  /// priority. The first in an empty queue has a turn at once: what was freed before it came had
  /// nobody to wake.
  std::optional<Ticket> Enter(absl::string_view pool, const config::Queue& queue, int priority,
                              std::shared_ptr<Parking> parking);

  /// Something of `pool` was freed. Does not wait.
  void Signal(absl::string_view pool);

  /// The same of every pool that somebody waits for.
  void SignalAll();

  bool HasWaiters(absl::string_view pool) const { return Depth(pool) > 0; }
  size_t Depth(absl::string_view pool) const;

 private:
  friend class Ticket;

  struct Waiter {
    std::shared_ptr<Parking> parking;
    bool has_turn = false;
  };
  /// By negated priority, then by number.
  using Waiters = std::map<std::pair<int, uint64_t>, Waiter>;
  struct Queue {
    Waiters waiters;
    bool turn = true;  // for the first, who has not taken it yet
  };
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct Place {
    Queues::iterator queue;
    Waiters::iterator waiter;
  };

  bool TakeTurn(const Place& place);
  void Leave(const Place& place);
  /// Gives the first a turn. Returns whom to wake without the lock; null: nobody.
  static std::shared_ptr<Parking> GiveTurn(Queue& queue);

  const Clock& clock_;
  mutable Mutex mutex_;
  Queues queues_ ABSL_GUARDED_BY(mutex_);  // none is empty
  uint64_t entered_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// A place in a queue, left when this is destroyed. Confined to its exchange's fiber.
class Ticket {
 public:
  enum class Outcome {
    kTurn,       // something may be free: try to take it
    kDeadline,   // it has waited for as long as it may
    kCancelled,  // the exchange's cancellation fired
  };

  Ticket(Ticket&& other) noexcept
      : queues_(std::exchange(other.queues_, nullptr)),
        place_(other.place_),
        last_(other.last_),
        parking_(std::move(other.parking_)) {}
  ~Ticket() { Leave(); }

  /// Waits for a turn, until `deadline` and for no longer than the queue's `max_wait` since Enter;
  /// a turn that is there comes before either. Whoever took nothing with its turn calls again, and
  /// has kept its place. After kDeadline or kCancelled the place is gone: the only call left is the
  /// destructor.
  Outcome Await(Instant deadline);

 private:
  friend class WaitQueues;
  Ticket(WaitQueues* queues, WaitQueues::Place place, Instant last,
         std::shared_ptr<Parking> parking)
      : queues_(queues), place_(place), last_(last), parking_(std::move(parking)) {}
  void Leave();

  WaitQueues* queues_;  // null: it has left
  WaitQueues::Place place_;
  Instant last_;  // of its waiting
  std::shared_ptr<Parking> parking_;
};

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_WAIT_QUEUE_H_
