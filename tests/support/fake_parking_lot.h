#ifndef SLUICE_TESTS_SUPPORT_FAKE_PARKING_LOT_H_
#define SLUICE_TESTS_SUPPORT_FAKE_PARKING_LOT_H_

#include <functional>
#include <memory>
#include <utility>

#include "lib/exchange/cancellation.h"
#include "lib/exchange/seams.h"
#include "tests/support/fake_clock.h"

namespace sluice::testing {

/// Every wait ends at once: woken, or cancelled, or at its deadline by moving the clock.
class FakeParkingLot final : public ParkingLot {
 public:
  FakeParkingLot(FakeClock& clock, const Cancellation& cancellation)
      : clock_(clock), cancellation_(cancellation) {}

  /// What happens while an exchange waits, each time.
  std::function<void()> while_parked = [] {};
  int waits = 0;

  std::shared_ptr<Parking> NewParking() override { return std::make_shared<Place>(*this); }

 private:
  class Place final : public Parking {
   public:
    explicit Place(FakeParkingLot& lot) : lot_(lot) {}
    WaitResult::Kind Park(Instant deadline) override {
      if (std::exchange(woken_, false)) return WaitResult::kOk;
      ++lot_.waits;
      lot_.while_parked();
      if (lot_.cancellation_.cause().has_value()) return WaitResult::kCancelled;
      if (std::exchange(woken_, false)) return WaitResult::kOk;
      lot_.clock_.AdvanceTo(deadline);
      return WaitResult::kDeadline;
    }
    void Wake() override { woken_ = true; }

   private:
    FakeParkingLot& lot_;
    bool woken_ = false;
  };

  FakeClock& clock_;
  const Cancellation& cancellation_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FAKE_PARKING_LOT_H_
