#ifndef SLUICE_LIB_ADMISSION_SLOTS_H_
#define SLUICE_LIB_ADMISSION_SLOTS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"

namespace sluice::admission {

class Slots;

/// One in flight. It is returned when this is destroyed, on whatever thread.
class Slot {
 public:
  Slot(Slot&& other) noexcept
      : slots_(std::exchange(other.slots_, nullptr)), name_(std::move(other.name_)) {}
  Slot& operator=(Slot&& other) noexcept;
  ~Slot() { Return(); }

  /// Returns it, as it served for nothing. Listeners hear of it only if somebody was refused
  /// meanwhile: else it is as though it had never been taken.
  void GiveBackUnused();

 private:
  friend class Slots;
  Slot(Slots* slots, absl::string_view name) : slots_(slots), name_(name) {}
  void Return();

  Slots* slots_;  // null: moved from
  std::string name_;
};

/// How many are in flight of each name of one kind: of pools, or of principals, or of the gateway
/// (with one name). A limit may change from one call to the next; when it drops below the count
/// nobody is thrown out. Names without any in flight cost no memory. Thread-safe.
class Slots {
 public:
  using Listener = std::function<void(absl::string_view name)>;

  /// `on_free` hears of each slot that was returned, on the thread that returned it and after it
  /// counts as free. It may call back; it must not wait.
  explicit Slots(Listener on_free = nullptr) : on_free_(std::move(on_free)) {}
  /// Every Slot must be gone.
  ~Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  /// Nothing if `limit` or more are in flight. 0: there is no limit.
  std::optional<Slot> TryTake(absl::string_view name, int limit);

  /// How many of `name` are in flight.
  int Read(absl::string_view name) const;
  /// Names that are kept: those with any in flight.
  size_t size() const;

 private:
  friend class Slot;
  struct Count {
    int in_flight = 0;
    bool refused = false;  // to somebody, since one was last returned
  };
  void Return(const std::string& name, bool unused);

  const Listener on_free_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Count> counts_ ABSL_GUARDED_BY(mutex_);  // none is 0
};

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_SLOTS_H_
