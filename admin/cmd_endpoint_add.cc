#include "admin/config_io.h"

namespace sluice::admin {

ExitCode RunEndpointAdd(CommandContext& context) {
  control::v1::AddEndpointRequest request;
  request.set_pool(context.invocation.arguments[0]);
  request.mutable_endpoint()->set_id(context.invocation.arguments[1]);
  request.mutable_endpoint()->set_uri(context.invocation.arguments[2]);
  request.set_etag(std::string(context.invocation.flag("etag")));
  return PrintApplied(context, context.client.AddEndpoint(request));
}

}  // namespace sluice::admin
