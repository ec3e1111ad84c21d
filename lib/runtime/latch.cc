#include "lib/runtime/latch.h"

#include "lib/runtime/fiber.h"
#include "lib/runtime/loop.h"

namespace sluice::runtime {

void Latch::Open() {
  open_ = true;
  if (waiter_ != nullptr) Loop::Current()->Schedule(waiter_, Wake::kReady);
}

Wake Latch::Wait(Instant deadline, Interrupts interrupts) {
  if (open_) return Wake::kReady;
  Loop* loop = Loop::Current();
  if (interrupts == Interrupts::kHeed && loop->running_->interrupted) return Wake::kInterrupted;
  waiter_ = loop->running_;
  const Wake wake = loop->Suspend(deadline, interrupts != Interrupts::kIgnore);
  waiter_ = nullptr;
  return wake;
}

}  // namespace sluice::runtime
