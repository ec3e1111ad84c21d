#include <vector>

#include "absl/time/time.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/usage_text.h"
#include "admin/wording.h"

namespace sluice::admin {

namespace v1 = ::sluice::control::v1;

ExitCode RunUsage(CommandContext& context) {
  std::vector<UsageDimension> by;
  v1::GetUsageRequest request;
  const absl::Status parsed =
      ForEachFlagName(context.invocation, "by", UsageDimensions(), [&](const UsageDimension& row) {
        by.push_back(row);
        request.add_group_by(row.dimension);
      });
  if (!parsed.ok()) return ReportUsageError(context, parsed);
  const auto usage = context.client.GetUsage(request);
  if (!usage.ok()) return ReportCallError(usage.status(), context.server(), context.world.err);

  if (context.json()) {
    context.world.out << ToJson(*usage) << "\n";
    return ExitCode::kOk;
  }
  context.world.out << "since "
                    << absl::FormatTime("%Y-%m-%d %H:%M:%S %Ez", ToTime(usage->start_time()),
                                        context.world.zone)
                    << "\n"
                    << UsageTable(*usage, by);
  if (usage->folded() > 0) {
    context.world.err
        << "sluicectl: " << usage->folded()
        << " exchanges are summed up under `(other)`, since there were too many names\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
