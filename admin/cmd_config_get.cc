#include "admin/call_error.h"
#include "admin/config_io.h"
#include "admin/json.h"

namespace sluice::admin {

ExitCode RunConfigGet(CommandContext& context) {
  std::optional<int64_t> generation;
  if (const absl::string_view given = context.invocation.flag("generation"); !given.empty()) {
    generation = ParseGeneration(context, given);
    if (!generation) return ExitCode::kUsage;
  }
  const auto config = context.client.GetConfig(generation);
  if (!config.ok()) return ReportCallError(config.status(), context.server(), context.world.err);
  context.world.out << (context.json() ? ToJson(*config) + "\n" : ToConfigFile(*config));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
