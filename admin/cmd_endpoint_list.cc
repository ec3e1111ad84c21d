#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/json.h"
#include "admin/text_table.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

std::string EndpointTable(const v1::ListEndpointsResponse& list) {
  TextTable table(
      {{"NAME"}, {"STATE"}, {"IN FLIGHT", true}, {"ATTEMPTS", true}, {"FAILED", true}, {"URI"}});
  for (const v1::EndpointStatus& endpoint : list.endpoints()) {
    table.AddRow({EndpointText(endpoint.name()), StateText(endpoint.state()),
                  absl::StrCat(endpoint.in_flight()), absl::StrCat(endpoint.attempts()),
                  absl::StrCat(endpoint.failed_attempts()), EscapeName(endpoint.uri())});
  }
  return table.Text();
}

}  // namespace

ExitCode RunEndpointList(CommandContext& context) {
  v1::ListEndpointsRequest request;
  request.set_pool(std::string(context.invocation.flag("pool")));
  const auto list = context.client.ListEndpoints(request);
  if (!list.ok()) return ReportCallError(list.status(), context.server(), context.world.err);
  if (context.json()) {
    for (const v1::EndpointStatus& endpoint : list->endpoints()) {
      context.world.out << ToJson(endpoint) << "\n";
    }
  } else {
    context.world.out << EndpointTable(*list);
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
