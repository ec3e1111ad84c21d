#ifndef SLUICE_TESTS_SUPPORT_HEAP_COUNT_H_
#define SLUICE_TESTS_SUPPORT_HEAP_COUNT_H_

#include <cstddef>

namespace sluice::testing {

/// What this program takes from operator new from the construction on. Whatever links this counts.
/// Only for programs of one thread.
class HeapCount {
 public:
  HeapCount() { Reset(); }
  void Reset();
  size_t calls() const;
  size_t owned() const;  // bytes now
  size_t peak() const;   // bytes, the most at one time

 private:
  size_t calls_ = 0;
  size_t owned_ = 0;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_HEAP_COUNT_H_
