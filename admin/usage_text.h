#ifndef SLUICE_ADMIN_USAGE_TEXT_H_
#define SLUICE_ADMIN_USAGE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// A thing that usage is told apart by, by the name that flags have for it: "pool".
struct UsageDimension {
  absl::string_view name;
  control::v1::GetUsageRequest::Dimension dimension;
  absl::string_view title;                              // of its column
  std::string (*text)(const control::v1::UsageTotal&);  // escaped
};
std::vector<UsageDimension> UsageDimensions();

/// One sum a line under a head, with a column for each of `dimensions`, in the order given. Nothing
/// in it can steer a terminal.
std::string UsageTable(const control::v1::GetUsageResponse& usage,
                       absl::Span<const UsageDimension> dimensions);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_USAGE_TEXT_H_
