#include "lib/http/parking.h"

#include <utility>

#include "lib/base/mutex.h"
#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

class FiberParking final : public Parking {
 public:
  WaitResult::Kind Park(Instant deadline) override {
    auto latch = std::make_shared<runtime::Latch>();
    {
      MutexLock lock(&mutex_);
      if (std::exchange(woken_, false)) return WaitResult::kOk;
      loop_ = runtime::Loop::Current();
      latch_ = latch;
    }
    const runtime::Wake wake = latch->Wait(deadline);
    MutexLock lock(&mutex_);
    loop_ = nullptr;
    latch_ = nullptr;
    if (std::exchange(woken_, false)) return WaitResult::kOk;
    return wake == runtime::Wake::kDeadline ? WaitResult::kDeadline : WaitResult::kCancelled;
  }

  void Wake() override {
    MutexLock lock(&mutex_);
    if (std::exchange(woken_, true) || loop_ == nullptr) return;
    loop_->Post([latch = latch_] { latch->Open(); });
  }

 private:
  Mutex mutex_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;  // since the last Park
  // Of the fiber while it is parked; null else: it may have ended, and its loop may be gone.
  runtime::Loop* loop_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::shared_ptr<runtime::Latch> latch_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<Parking> FiberParkingLot::NewParking() { return std::make_shared<FiberParking>(); }

}  // namespace sluice::http
