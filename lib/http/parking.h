#ifndef SLUICE_LIB_HTTP_PARKING_H_
#define SLUICE_LIB_HTTP_PARKING_H_

#include <memory>

#include "lib/exchange/seams.h"

namespace sluice::http {

/// Parks the running fiber. Its interrupts are kCancelled. A Parking may be woken for as long as
/// somebody holds it, also when its fiber has ended and its loop is gone.
class FiberParkingLot final : public ParkingLot {
 public:
  std::shared_ptr<Parking> NewParking() override;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_PARKING_H_
