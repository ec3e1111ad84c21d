#include "lib/runtime/stack.h"

#include <cstdint>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::runtime {
namespace {

size_t PageSize() {
  static const size_t size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// A page that faults. As a mark in the page table, from Linux 6.13 on (MADV_GUARD_INSTALL, which
/// Debian 12's headers do not know), it costs nothing; as a mapping of its own it splits another
/// one, and the kernel has a record of 200 bytes for each and no more than 65,530 of them.
bool Guard(void* page) {
  constexpr int kGuardInstall = 102;
  return ::madvise(page, PageSize(), kGuardInstall) == 0 ||
         ::mprotect(page, PageSize(), PROT_NONE) == 0;
}

}  // namespace

Stack::Stack(size_t size) : size_((size + PageSize() - 1) / PageSize() * PageSize()) {
  void* region = ::mmap(nullptr, size_ + PageSize(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (region == MAP_FAILED) return;
  if (!Guard(region)) {
    ::munmap(region, size_ + PageSize());
    return;
  }
  bottom_ = static_cast<char*>(region) + PageSize();
  // AddressSanitizer may still hold marks of a stack that was mapped here before.
  ASAN_UNPOISON_MEMORY_REGION(bottom_, size_);
}

Stack::~Stack() {
  if (bottom_ == nullptr) return;
  // A library that AddressSanitizer does not see through may map memory here next.
  ASAN_UNPOISON_MEMORY_REGION(bottom_, size_);
  ::munmap(bottom_ - PageSize(), size_ + PageSize());
}

void Stack::ReleaseBelow(const char* low) {
  const size_t free_bytes =
      (reinterpret_cast<uintptr_t>(low) - reinterpret_cast<uintptr_t>(bottom_)) / PageSize() *
      PageSize();
  if (free_bytes > 0) ::madvise(bottom_, free_bytes, MADV_DONTNEED);
}

}  // namespace sluice::runtime
