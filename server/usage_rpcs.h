#ifndef SLUICE_SERVER_USAGE_RPCS_H_
#define SLUICE_SERVER_USAGE_RPCS_H_

#include "absl/time/time.h"
#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "lib/ledger/usage_totals.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::server {

/// The call about usage; its contract is in the proto. Thread-safe. What it is given must outlive
/// it.
class UsageRpcs {
 public:
  /// `totals` begin now.
  UsageRpcs(const Clock& clock, const ledger::UsageTotals& totals)
      : totals_(totals), start_time_(clock.WallNow()) {}

  grpc::Status Get(const control::v1::GetUsageRequest& request,
                   control::v1::GetUsageResponse* response) const;

 private:
  const ledger::UsageTotals& totals_;
  const absl::Time start_time_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_USAGE_RPCS_H_
