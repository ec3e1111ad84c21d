#ifndef SLUICE_LIB_RUNTIME_LATCH_H_
#define SLUICE_LIB_RUNTIME_LATCH_H_

#include "lib/base/clock.h"
#include "lib/runtime/wake.h"

namespace sluice::runtime {

class Fiber;

/// Opens once; one fiber may wait for that. Confined to the loop it is used on.
class Latch {
 public:
  void Open();
  bool is_open() const { return open_; }
  Wake Wait(Instant deadline, Interrupts interrupts = Interrupts::kHeed);

 private:
  bool open_ = false;
  Fiber* waiter_ = nullptr;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_LATCH_H_
