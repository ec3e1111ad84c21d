#include "admin/call_error.h"

#include <string>

#include "admin/control_client.h"
#include "admin/escape.h"

namespace sluice::admin {

ExitCode ReportCallError(const absl::Status& error, absl::string_view server, std::ostream& err) {
  const std::string message = EscapeText(error.message());
  const std::string address = EscapeText(server);
  const auto detail = ErrorDetailOf(error);
  switch (error.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      err << "sluicectl: no answer from " << address << ": " << message << "\n"
          << "Check that sluiced runs and that this is its --control address; name another one "
             "with "
             "--server or SLUICE_SERVER.\n";
      return ExitCode::kUnreachable;
    case absl::StatusCode::kAborted:
      err << "sluicectl: conflict, nothing was changed: " << message << "\n"
          << "Read the configuration again with `sluicectl config get`, redo the change there, and "
             "apply "
             "it.\n";
      return ExitCode::kConflict;
    case absl::StatusCode::kNotFound:
      err << "sluicectl: not found: " << message << "\n";
      return ExitCode::kNotFound;
    case absl::StatusCode::kInvalidArgument:
      if (!detail || detail->reason() != "CONFIG_INVALID") break;
      err << "sluicectl: the configuration is not valid, nothing was changed:\n";
      for (const auto& violation : detail->violations()) {
        err << "  " << EscapeText(violation.field_path()) << ": "
            << EscapeText(violation.description()) << "\n";
      }
      return ExitCode::kInvalidConfig;
    default:
      break;
  }
  err << "sluicectl: " << address << " refused: " << message << " ("
      << absl::StatusCodeToString(error.code()) << ")\n";
  return ExitCode::kError;
}

bool IsTransient(const absl::Status& error) {
  return absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error);
}

}  // namespace sluice::admin
