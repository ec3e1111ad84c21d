#ifndef SLUICE_LIB_RUNTIME_STACK_H_
#define SLUICE_LIB_RUNTIME_STACK_H_

#include <cstddef>

namespace sluice::runtime {

/// Memory for one fiber's stack: `size` usable bytes from `bottom` up, and a page below them that
/// faults. Pages are the kernel's until they are touched.
class Stack {
 public:
  /// Null `bottom()` when the kernel has no memory or no mappings left.
  explicit Stack(size_t size);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  char* bottom() const { return bottom_; }
  char* top() const { return bottom_ + size_; }
  size_t size() const { return size_; }

  /// Gives the pages that lie wholly below `low` back to the kernel; what they held is lost.
  void ReleaseBelow(const char* low);

 private:
  char* bottom_ = nullptr;
  size_t size_;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_STACK_H_
