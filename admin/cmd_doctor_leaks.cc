#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/leak_readings.h"
#include "admin/pause.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr std::array<absl::string_view, 3> kTimes = {"BEFORE", "DURING", "AFTER"};

/// Until the next reading, `time`; whether it is wanted still.
bool WaitFor(absl::string_view time, absl::Duration interval, bool ask, World& world) {
  if (ask) {
    world.err << "sluicectl: "
              << (time == "DURING" ? "start the load" : "end the load, and wait until it is gone")
              << ", then press Enter\n";
    std::string line;
    return std::getline(world.in, line) && !world.stop.stop_requested();
  }
  world.err << "sluicectl: reading again in " << DurationText(interval) << "\n";
  PauseUnlessStopped(absl::ToChronoMilliseconds(interval), world.stop);
  return !world.stop.stop_requested();
}

void Report(const std::vector<LeakReading>& readings, std::ostream& err) {
  std::vector<std::string> leaking;
  for (const LeakReading& reading : readings) {
    if (reading.leaks()) leaking.push_back(EscapeText(reading.name));
  }
  if (!leaking.empty()) {
    err << "sluicectl: the books are wrong each time about: " << absl::StrJoin(leaking, ", ")
        << "\nLook again with --interval 30s to see whether it grows. If it does, keep this "
           "output for a report,\n"
           "and restart the server: `sluicectl server drain` first lets what runs end.\n";
  } else if (std::any_of(readings.begin(), readings.end(),
                         [](const LeakReading& reading) { return reading.differs(); })) {
    err << "sluicectl: no leak: differences came and went, as they do while requests come and go\n";
  } else {
    err << "sluicectl: no leak\n";
  }
}

}  // namespace

ExitCode RunDoctorLeaks(CommandContext& context) {
  World& world = context.world;
  const auto interval = FlagDuration(context.invocation, "interval", absl::ZeroDuration());
  if (!interval.ok()) return ReportUsageError(context, interval.status());
  const bool ask = !context.invocation.flag("ask").empty();

  std::vector<v1::CheckLeaksResponse> checks;
  for (const absl::string_view time : kTimes) {
    if (!checks.empty() && !WaitFor(time, *interval, ask, world)) return ExitCode::kError;
    auto check = context.client.CheckLeaks();
    if (!check.ok()) return ReportCallError(check.status(), context.server(), world.err);
    if (context.json()) world.out << ToJson(*check) << "\n" << std::flush;
    checks.push_back(*std::move(check));
  }
  const std::vector<LeakReading> readings = LeakReadings(checks);
  if (!context.json()) world.out << LeakTable(readings, kTimes);
  Report(readings, world.err);
  return std::any_of(readings.begin(), readings.end(),
                     [](const LeakReading& reading) { return reading.leaks(); })
             ? ExitCode::kError
             : ExitCode::kOk;
}

}  // namespace sluice::admin
