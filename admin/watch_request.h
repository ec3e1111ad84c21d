#ifndef SLUICE_ADMIN_WATCH_REQUEST_H_
#define SLUICE_ADMIN_WATCH_REQUEST_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "admin/command_line.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// What the flags of `watch` ask for; `now` is what `--since 5m` counts from. INVALID_ARGUMENT: the
/// message names the flag, says what is wrong, and lists the names there are.
absl::StatusOr<control::v1::WatchEventsRequest> MakeWatchRequest(const Invocation& invocation,
                                                                 absl::Time now);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_WATCH_REQUEST_H_
