#ifndef SLUICE_LIB_EXCHANGE_PUBLISHED_H_
#define SLUICE_LIB_EXCHANGE_PUBLISHED_H_

#include <atomic>

namespace sluice {

/// A value that one thread writes and any thread may read, always whole. Costs the writer no more
/// than a plain one; several of them read together may be of different moments. A copy is a value
/// of its own.
template <typename T>
class Published {
 public:
  Published(T value = T()) : value_(value) {}
  Published(const Published& other) : value_(T(other)) {}
  Published& operator=(const Published& other) { return *this = T(other); }
  Published& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

  operator T() const { return value_.load(std::memory_order_relaxed); }

  // No atomic read-modify-write: there is one writer.
  Published& operator+=(T more) { return *this = T(*this) + more; }
  T operator++(int) {
    const T before = *this;
    *this = before + 1;
    return before;
  }

 private:
  static_assert(std::atomic<T>::is_always_lock_free);
  std::atomic<T> value_;
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_PUBLISHED_H_
