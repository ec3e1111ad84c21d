#ifndef SLUICE_ADMIN_CALL_ERROR_H_
#define SLUICE_ADMIN_CALL_ERROR_H_

#include <ostream>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "admin/exit_code.h"

namespace sluice::admin {

/// Tells a person on `err` what went wrong with a call to `server` and what to do next, every
/// violation on a line of its own, and returns what to exit with. `error` comes from ControlClient.
ExitCode ReportCallError(const absl::Status& error, absl::string_view server, std::ostream& err);

/// Whether trying again later may help: no answer came, or the server gave up on a slow watcher.
bool IsTransient(const absl::Status& error);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_CALL_ERROR_H_
