#include "admin/config_io.h"
#include "admin/flag_values.h"

namespace sluice::admin {

ExitCode RunEndpointRemove(CommandContext& context) {
  control::v1::RemoveEndpointRequest request;
  request.set_name(EndpointName(context.invocation.arguments[0]));
  request.set_etag(std::string(context.invocation.flag("etag")));
  return PrintApplied(context, context.client.RemoveEndpoint(request));
}

}  // namespace sluice::admin
