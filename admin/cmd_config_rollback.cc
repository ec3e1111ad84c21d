#include "admin/config_io.h"

namespace sluice::admin {

ExitCode RunConfigRollback(CommandContext& context) {
  const auto generation = ParseGeneration(context, context.invocation.arguments[0]);
  if (!generation) return ExitCode::kUsage;
  ExitCode failed = ExitCode::kOk;
  const auto etag = EtagToChange(context, &failed);
  if (!etag) return failed;
  return PrintApplied(context, context.client.RollbackConfig(*generation, *etag));
}

}  // namespace sluice::admin
