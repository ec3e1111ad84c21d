#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/doctor_checks.h"
#include "admin/escape.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

std::string CheckText(const Check& check) {
  std::string text =
      absl::StrFormat("%-4s  %-10s  %s\n", check.ok ? "OK" : "WARN", check.name, check.finding);
  if (!check.next.empty()) absl::StrAppend(&text, std::string(18, ' '), check.next, "\n");
  return text;
}

std::string CheckJson(const Check& check) {
  return absl::StrCat(
      "{\"check\":", JsonString(check.name), ",\"ok\":", check.ok ? "true" : "false",
      ",\"finding\":", JsonString(check.finding), ",\"next\":", JsonString(check.next), "}\n");
}

/// What could not be looked at, because the server refused to show it.
Check Refused(absl::string_view name, const absl::Status& error) {
  return {name, false, absl::StrCat("cannot be read: ", EscapeText(error.message())),
          "Look again as somebody who may."};
}

}  // namespace

ExitCode RunDoctor(CommandContext& context) {
  const auto status = context.client.GetServerStatus();
  if (!status.ok()) return ReportCallError(status.status(), context.server(), context.world.err);
  std::vector<Check> checks = CheckServer(*status, SLUICE_VERSION, context.world.clock.WallNow());
  const auto add = [&checks](std::vector<Check> more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  const auto config = context.client.GetConfig();
  add(config.ok() ? CheckConfig(*config, *status)
                  : std::vector<Check>{Refused("config", config.status())});
  const auto endpoints = context.client.ListEndpoints({});
  add(endpoints.ok() ? CheckEndpoints(*endpoints)
                     : std::vector<Check>{Refused("endpoints", endpoints.status())});

  for (const Check& check : checks) {
    context.world.out << (context.json() ? CheckJson(check) : CheckText(check));
  }
  const bool well =
      std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; });
  return well ? ExitCode::kOk : ExitCode::kError;
}

}  // namespace sluice::admin
