#ifndef SLUICE_TESTS_HTTP_ALLOCATIONS_H_
#define SLUICE_TESTS_HTTP_ALLOCATIONS_H_

#include <cstddef>

namespace sluice::http {

/// Sees what this thread takes from `operator new` during its life. One at a time.
class AllocationWatch {
 public:
  AllocationWatch();
  size_t count() const;
  size_t largest() const;
};

}  // namespace sluice::http

#endif  // SLUICE_TESTS_HTTP_ALLOCATIONS_H_
