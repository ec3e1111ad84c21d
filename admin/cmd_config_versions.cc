#include <string>

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

std::string VersionsTable(const v1::ListConfigVersionsResponse& list, absl::TimeZone zone) {
  TextTable table({{.title = "GENERATION", .right = true},
                   {.title = "TIME"},
                   {.title = "EXCHANGES", .right = true},
                   {.title = "AUTHOR"},
                   {.title = "ORIGIN"}});
  for (const v1::ConfigVersion& version : list.versions()) {
    table.AddRow({absl::StrCat(version.generation()),
                  absl::FormatTime("%Y-%m-%d %H:%M:%S", ToTime(version.create_time()), zone),
                  absl::StrCat(version.exchanges()), EscapeName(version.author()),
                  EscapeText(version.origin())});
  }
  return table.Text();
}

}  // namespace

ExitCode RunConfigVersions(CommandContext& context) {
  const auto list = context.client.ListConfigVersions();
  if (!list.ok()) return ReportCallError(list.status(), context.server(), context.world.err);
  context.world.out << (context.json() ? ToJson(*list) + "\n"
                                       : VersionsTable(*list, context.world.zone));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
