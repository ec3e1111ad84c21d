#include "tests/support/heap_count.h"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

size_t g_calls = 0;
size_t g_owned = 0;
size_t g_peak = 0;

}  // namespace

void* operator new(size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  ++g_calls;
  g_owned += malloc_usable_size(memory);
  g_peak = std::max(g_peak, g_owned);
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  g_owned -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace sluice::testing {

void HeapCount::Reset() {
  calls_ = g_calls;
  owned_ = g_peak = g_owned;
}

size_t HeapCount::calls() const { return g_calls - calls_; }
size_t HeapCount::owned() const { return g_owned - owned_; }
size_t HeapCount::peak() const { return g_peak - owned_; }

}  // namespace sluice::testing
