#include <utility>

#include "absl/strings/str_cat.h"

#include "admin/commands.h"
#include "admin/drain_watch.h"
#include "admin/flag_values.h"
#include "admin/wording.h"

namespace sluice::admin {

ExitCode RunEndpointDrain(CommandContext& context) {
  const auto timeout = DrainTimeout(context.invocation);
  if (!timeout.ok()) return ReportUsageError(context, timeout.status());
  control::v1::DrainEndpointRequest request;
  request.set_name(EndpointName(context.invocation.arguments[0]));
  *request.mutable_timeout() = *timeout;
  request.set_cancel(!context.invocation.flag("cancel").empty());
  request.set_reason(std::string(context.invocation.flag("reason")));

  const std::string endpoint = EndpointText(request.name());
  return WatchDrain(
      context,
      {.what = absl::StrCat("endpoint ", endpoint),
       .back = absl::StrCat("`sluicectl endpoint resume ", endpoint, "` sends it attempts again."),
       .next = absl::StrCat("it can be stopped; `sluicectl endpoint resume ", endpoint,
                            "` sends it attempts again"),
       .call = [&](auto on_progress) {
         return context.client.DrainEndpoint(request, context.world.stop, std::move(on_progress));
       }});
}

}  // namespace sluice::admin
