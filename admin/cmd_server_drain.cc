#include <utility>

#include "admin/commands.h"
#include "admin/drain_watch.h"
#include "admin/flag_values.h"

namespace sluice::admin {

ExitCode RunServerDrain(CommandContext& context) {
  const auto timeout = DrainTimeout(context.invocation);
  if (!timeout.ok()) return ReportUsageError(context, timeout.status());
  control::v1::DrainServerRequest request;
  *request.mutable_timeout() = *timeout;
  request.set_cancel(!context.invocation.flag("cancel").empty());
  request.set_reason(std::string(context.invocation.flag("reason")));
  return WatchDrain(context,
                    {.what = "the server",
                     .back = "It takes nothing new until it is restarted.",
                     .next = "it can be stopped now, and takes nothing new until it is restarted",
                     .call = [&](auto on_progress) {
                       return context.client.DrainServer(request, context.world.stop,
                                                         std::move(on_progress));
                     }});
}

}  // namespace sluice::admin
