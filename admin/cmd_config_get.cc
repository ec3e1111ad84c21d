#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/json.h"

namespace sluice::admin {

ExitCode RunConfigGet(CommandContext& context) {
  const auto config = context.client.GetConfig();
  if (!config.ok()) return ReportCallError(config.status(), context.server(), context.world.err);
  context.world.out << (context.json() ? ToJson(*config) + "\n" : ToConfigFile(*config));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
