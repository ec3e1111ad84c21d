#include "admin/call_error.h"
#include "admin/config_io.h"
#include "admin/escape.h"
#include "admin/json.h"

namespace sluice::admin {

ExitCode RunConfigValidate(CommandContext& context) {
  ExitCode failed = ExitCode::kOk;
  const auto config = ReadConfig(context, context.invocation.arguments[0], &failed);
  if (!config) return failed;
  const auto found = context.client.ValidateConfig(*config);
  if (!found.ok()) return ReportCallError(found.status(), context.server(), context.world.err);
  std::ostream& out = context.world.out;
  if (context.json()) {
    out << ToJson(*found) + "\n";
  } else {
    for (const auto& violation : found->violations()) {
      out << EscapeText(violation.field_path()) << ": " << EscapeText(violation.description())
          << "\n";
    }
    if (found->violations().empty()) out << "valid\n";
  }
  return found->violations().empty() ? ExitCode::kOk : ExitCode::kInvalidConfig;
}

}  // namespace sluice::admin
