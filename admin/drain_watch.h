#ifndef SLUICE_ADMIN_DRAIN_WATCH_H_
#define SLUICE_ADMIN_DRAIN_WATCH_H_

#include <functional>
#include <string>

#include "google/protobuf/duration.pb.h"

#include "admin/commands.h"
#include "admin/exit_code.h"
#include "sluice/control/v1/control_service.pb.h"

namespace sluice::admin {

/// A drain as its user sees it.
struct Drain {
  std::string what;  // that is drained: "endpoint chat/a"
  std::string back;  // what to do when it is cut short: how to resume
  std::string next;  // what to do when nobody is left
  /// Makes the call.
  std::function<absl::Status(std::function<bool(const control::v1::DrainProgress&)>)> call;
};

/// What --timeout says. INVALID_ARGUMENT: it says nothing of use.
absl::StatusOr<google::protobuf::Duration> DrainTimeout(const Invocation& invocation);

/// Drains, shows how far it is, and tells how it ended: with JSON each progress on standard output,
/// else words on standard error, and the outcome on standard output.
ExitCode WatchDrain(CommandContext& context, const Drain& drain);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_DRAIN_WATCH_H_
