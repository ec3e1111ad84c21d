#ifndef SLUICE_ADMIN_DOCTOR_CHECKS_H_
#define SLUICE_ADMIN_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "sluice/control/v1/config.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// One look at the server.
struct Check {
  absl::string_view name;
  bool ok = true;
  std::string finding;  // fit to show
  std::string next;     // what to do about it; "" when it is ok
};

/// Judges what the server says about itself. `own_version` is that of sluicectl.
std::vector<Check> CheckServer(const control::v1::ServerStatus& status,
                               absl::string_view own_version, absl::Time now);

/// Judges the configuration in force, which `status` should name.
std::vector<Check> CheckConfig(const control::v1::Config& config,
                               const control::v1::ServerStatus& status);

/// Judges the endpoints.
std::vector<Check> CheckEndpoints(const control::v1::ListEndpointsResponse& endpoints);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_DOCTOR_CHECKS_H_
