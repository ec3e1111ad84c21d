#include "tests/http/allocations.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local size_t allocation_count = 0;
thread_local size_t largest_allocation = 0;

}  // namespace

void* operator new(size_t size) {
  ++allocation_count;
  largest_allocation = std::max(largest_allocation, size);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace sluice::http {

AllocationWatch::AllocationWatch() { allocation_count = largest_allocation = 0; }

size_t AllocationWatch::count() const { return allocation_count; }

size_t AllocationWatch::largest() const { return largest_allocation; }

}  // namespace sluice::http
