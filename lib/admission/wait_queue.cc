#include "lib/admission/wait_queue.h"

#include <algorithm>
#include <vector>

namespace sluice::admission {

std::optional<Ticket> WaitQueues::Enter(absl::string_view pool, const config::Queue& queue,
                                        int priority, std::shared_ptr<Parking> parking) {
  const Instant last = DeadlineAfter(clock_.Now(), queue.max_wait);
  const size_t capacity = static_cast<size_t>(std::max(queue.capacity, 0));
  MutexLock lock(&mutex_);
  auto found = queues_.find(pool);
  if (capacity <= (found == queues_.end() ? 0 : found->second.waiters.size())) return std::nullopt;
  if (found == queues_.end()) found = queues_.try_emplace(std::string(pool)).first;
  const auto waiter =
      found->second.waiters.try_emplace({-priority, ++entered_}, Waiter{parking}).first;
  return Ticket(this, {found, waiter}, last, std::move(parking));
}

void WaitQueues::Signal(absl::string_view pool) {
  std::shared_ptr<Parking> first;
  {
    MutexLock lock(&mutex_);
    const auto found = queues_.find(pool);
    if (found != queues_.end()) first = GiveTurn(found->second);
  }
  if (first != nullptr) first->Wake();
}

void WaitQueues::SignalAll() {
  std::vector<std::shared_ptr<Parking>> firsts;
  {
    MutexLock lock(&mutex_);
    for (auto& [pool, queue] : queues_) firsts.push_back(GiveTurn(queue));
  }
  for (const std::shared_ptr<Parking>& first : firsts) {
    if (first != nullptr) first->Wake();
  }
}

size_t WaitQueues::Depth(absl::string_view pool) const {
  MutexLock lock(&mutex_);
  const auto found = queues_.find(pool);
  return found == queues_.end() ? 0 : found->second.waiters.size();
}

std::shared_ptr<Parking> WaitQueues::GiveTurn(Queue& queue) {
  // Whoever became the first while a turn was there finds it in Await, or was woken by Leave.
  if (std::exchange(queue.turn, true)) return nullptr;
  return queue.waiters.begin()->second.parking;
}

bool WaitQueues::TakeTurn(const Place& place) {
  MutexLock lock(&mutex_);
  Queue& queue = place.queue->second;
  Waiter& waiter = place.waiter->second;
  waiter.has_turn = queue.turn && place.waiter == queue.waiters.begin();
  if (waiter.has_turn) queue.turn = false;
  return waiter.has_turn;
}

void WaitQueues::Leave(const Place& place) {
  std::shared_ptr<Parking> next;
  {
    MutexLock lock(&mutex_);
    Queue& queue = place.queue->second;
    const bool had_turn = place.waiter->second.has_turn;
    const bool was_first = place.waiter == queue.waiters.begin();
    queue.waiters.erase(place.waiter);
    if (queue.waiters.empty()) {
      queues_.erase(place.queue);
    } else if (queue.turn && was_first) {
      next = queue.waiters.begin()->second.parking;
    } else if (had_turn) {
      next = GiveTurn(queue);
    }
  }
  if (next != nullptr) next->Wake();
}

Ticket::Outcome Ticket::Await(Instant deadline) {
  const Instant until = std::min(deadline, last_);
  while (!queues_->TakeTurn(place_)) {
    const WaitResult::Kind woken = parking_->Park(until);
    if (woken == WaitResult::kOk) continue;
    Leave();
    return woken == WaitResult::kDeadline ? Outcome::kDeadline : Outcome::kCancelled;
  }
  return Outcome::kTurn;
}

void Ticket::Leave() {
  if (queues_ != nullptr) std::exchange(queues_, nullptr)->Leave(place_);
}

}  // namespace sluice::admission
