#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/json.h"
#include "admin/text_table.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

/// What an operator asks next when an endpoint is not simply active.
std::string NoteOn(const v1::EndpointStatus& endpoint, absl::TimeZone zone) {
  std::vector<std::string> notes;
  if (endpoint.has_ejected_until()) {
    notes.push_back(absl::StrCat("until ", ClockText(endpoint.ejected_until(), zone)));
  } else if (endpoint.state() == v1::EndpointStatus::STATE_EJECTED) {
    notes.push_back("until probes succeed");
  }
  if (endpoint.consecutive_failures() > 0) {
    notes.push_back(absl::StrCat(endpoint.consecutive_failures(), " failed in a row, last ",
                                 EscapeName(endpoint.last_failure())));
  }
  if (endpoint.has_resting_until()) {
    notes.push_back(absl::StrCat("rests until ", ClockText(endpoint.resting_until(), zone)));
  }
  return absl::StrJoin(notes, "; ");
}

std::string EndpointTable(const v1::ListEndpointsResponse& list, absl::TimeZone zone) {
  TextTable table({{"NAME"},
                   {"STATE"},
                   {"IN FLIGHT", true},
                   {"ATTEMPTS", true},
                   {"FAILED", true},
                   {"TTFT", true},
                   {"URI"},
                   {"NOTE"}});
  for (const v1::EndpointStatus& endpoint : list.endpoints()) {
    table.AddRow(
        {EndpointText(endpoint.name()), StateText(endpoint.state()),
         absl::StrCat(endpoint.in_flight()), absl::StrCat(endpoint.attempts()),
         absl::StrCat(endpoint.failed_attempts()),
         endpoint.has_first_frame() ? DurationText(ToDuration(endpoint.first_frame())) : "-",
         EscapeName(endpoint.uri()), NoteOn(endpoint, zone)});
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
    context.world.out << EndpointTable(*list, context.world.zone);
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
