#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/json.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

std::string StatusTable(const control::v1::ServerStatus& status, absl::string_view server,
                        absl::Time now, absl::TimeZone zone) {
  const absl::Time start = ToTime(status.start_time());
  std::string text;
  const auto row = [&text](absl::string_view name, absl::string_view value) {
    absl::StrAppendFormat(&text, "%-10s  %s\n", name, value);
  };
  row("server", EscapeText(server));
  row("version", EscapeName(status.version()));
  row("up", absl::StrCat(DurationText(now - start), ", since ",
                         absl::FormatTime("%Y-%m-%d %H:%M:%S %Ez", start, zone)));
  row("boot", EscapeName(status.boot_id()));
  row("exchanges", absl::StrCat(status.in_flight(), " in flight, ", status.accepted(), " accepted",
                                status.draining() ? "; draining, no more are accepted" : ""));
  row("events", absl::StrCat(status.ring().published(), " published, ", status.ring().size(),
                             " held of at most ", status.ring().capacity()));
  row("watchers", absl::StrCat(status.watchers(), ", ", status.watchers_dropped(),
                               " dropped for being too slow"));
  row("config", absl::StrCat("generation ", status.config_generation(), ", etag ",
                             EscapeName(status.config_etag())));
  return text;
}

}  // namespace

ExitCode RunStatus(CommandContext& context) {
  const auto status = context.client.GetServerStatus();
  if (!status.ok()) return ReportCallError(status.status(), context.server(), context.world.err);
  context.world.out << (context.json()
                            ? ToJson(*status) + "\n"
                            : StatusTable(*status, context.server(), context.world.clock.WallNow(),
                                          context.world.zone));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
