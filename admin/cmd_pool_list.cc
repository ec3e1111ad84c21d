#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

std::string KeysText(const v1::PoolStatus& pool, absl::TimeZone zone) {
  std::vector<std::string> unusable;
  for (const v1::KeyStatus& key : pool.keys()) {
    if (key.state() == v1::KeyStatus::STATE_ACTIVE) continue;
    unusable.push_back(
        absl::StrCat(EscapeName(key.id()), " ",
                     EnumText(v1::KeyStatus::State_Name(key.state()), "STATE_", key.state()),
                     key.has_until() ? absl::StrCat(" until ", ClockText(key.until(), zone)) : ""));
  }
  return absl::StrCat(pool.keys_size() - static_cast<int>(unusable.size()), " of ",
                      pool.keys_size(),
                      unusable.empty() ? "" : absl::StrCat(": ", absl::StrJoin(unusable, ", ")));
}

std::string PoolTable(const v1::ListEndpointsResponse& list, absl::TimeZone zone) {
  TextTable table(
      {{"POOL"}, {"IN FLIGHT", true}, {"WAITING", true}, {"RETRY TOKENS", true}, {"KEYS USABLE"}});
  for (const v1::PoolStatus& pool : list.pools()) {
    table.AddRow({EscapeName(pool.id()), absl::StrCat(pool.in_flight()),
                  absl::StrCat(pool.waiting()), absl::StrFormat("%.1f", pool.retry_tokens()),
                  pool.keys().empty() ? "none" : KeysText(pool, zone)});
  }
  return table.Text();
}

}  // namespace

ExitCode RunPoolList(CommandContext& context) {
  const auto list = context.client.ListEndpoints({});
  if (!list.ok()) return ReportCallError(list.status(), context.server(), context.world.err);
  if (context.json()) {
    for (const v1::PoolStatus& pool : list->pools()) context.world.out << ToJson(pool) << "\n";
  } else {
    context.world.out << PoolTable(*list, context.world.zone);
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
