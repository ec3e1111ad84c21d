#include "admin/call_error.h"

#include <optional>
#include <string>

#include "admin/control_client.h"
#include "admin/escape.h"

namespace sluice::admin {
namespace {

/// What helps against an error of that reason, as a line; "" if nothing is known to.
absl::string_view NextStep(const std::optional<control::v1::ErrorDetail>& detail) {
  static constexpr struct {
    absl::string_view reason;
    absl::string_view step;
  } kSteps[] = {
      {"EXCHANGE_UNKNOWN", "`sluicectl exchange list --all` shows those there are.\n"},
      {"EXCHANGE_ENDED", "`sluicectl exchange get` shows how it ended.\n"},
      {"ENDPOINT_UNKNOWN", "`sluicectl endpoint list` shows those there are.\n"},
      {"ENDPOINT_NOT_FOUND", "`sluicectl endpoint list` shows those there are.\n"},
      {"POOL_UNKNOWN", "`sluicectl endpoint list` shows all of them.\n"},
      {"POOL_NOT_FOUND", "`sluicectl config get` shows those there are.\n"},
      {"VERSION_NOT_FOUND", "`sluicectl config versions` shows those there are.\n"},
  };
  for (const auto& row : kSteps) {
    if (detail && detail->reason() == row.reason) return row.step;
  }
  return "";
}

}  // namespace

ExitCode ReportCallError(const absl::Status& error, absl::string_view server, std::ostream& err) {
  const std::string message = EscapeText(error.message());
  const std::string address = EscapeText(server);
  const auto detail = ErrorDetailOf(error);
  switch (error.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      if (detail) break;  // the server said so itself
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
    case absl::StatusCode::kUnauthenticated:
      err << "sluicectl: " << address << " does not know who calls: " << message << "\n"
          << "Give the token you were given with --token-file or SLUICE_TOKEN.\n";
      return ExitCode::kError;
    case absl::StatusCode::kNotFound:
      err << "sluicectl: not found: " << message << "\n" << NextStep(detail);
      return ExitCode::kNotFound;
    case absl::StatusCode::kFailedPrecondition:
      err << "sluicectl: too late: " << message << "\n" << NextStep(detail);
      return ExitCode::kConflict;
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
