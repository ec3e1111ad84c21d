#include "admin/config_io.h"

namespace sluice::admin {

ExitCode RunConfigApply(CommandContext& context) {
  ExitCode failed = ExitCode::kOk;
  auto config = ReadConfig(context, context.invocation.arguments[0], &failed);
  if (!config) return failed;
  if (config->etag().empty() || !context.invocation.flag("etag").empty()) {
    const auto etag = EtagToChange(context, &failed);
    if (!etag) return failed;
    config->set_etag(*etag);
  }
  return PrintApplied(context, context.client.UpdateConfig(UpdateOfAll(*std::move(config))));
}

}  // namespace sluice::admin
