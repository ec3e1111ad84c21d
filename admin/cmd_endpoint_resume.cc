#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/wording.h"

namespace sluice::admin {

ExitCode RunEndpointResume(CommandContext& context) {
  control::v1::ResumeEndpointRequest request;
  request.set_name(EndpointName(context.invocation.arguments[0]));
  request.set_reason(std::string(context.invocation.flag("reason")));
  const auto status = context.client.ResumeEndpoint(request);
  if (!status.ok()) return ReportCallError(status.status(), context.server(), context.world.err);
  if (context.json()) {
    context.world.out << ToJson(*status) << "\n";
  } else {
    context.world.out << "resumed: endpoint " << EndpointText(status->name()) << " is "
                      << StateText(status->state()) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
