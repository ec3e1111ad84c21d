#ifndef SLUICE_ADMIN_COMMANDS_H_
#define SLUICE_ADMIN_COMMANDS_H_

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "admin/command_line.h"
#include "admin/control_client.h"
#include "admin/exit_code.h"
#include "admin/top_screen.h"
#include "lib/base/clock.h"

namespace sluice::admin {

/// The world as sluicectl sees it; tests give it another one. All outlive the run.
struct World {
  Environment environment;
  std::istream& in;
  std::ostream& out;  // data
  std::ostream& err;  // words
  const Clock& clock;
  absl::TimeZone zone;   // for times shown to people
  std::stop_token stop;  // requested when the user interrupts or standard output has no reader left
  /// Has the user edit the file `path` with `editor`, a command of the shell; whether that went
  /// well.
  std::function<bool(const std::string& editor, const std::string& path)> edit = {};
  /// Takes the terminal; null if it cannot be used. Empty if there is none.
  std::function<std::unique_ptr<TopScreen>()> open_screen = {};
};

/// What a command works with.
struct CommandContext {
  const Invocation& invocation;
  ControlClient& client;
  World& world;

  bool json() const { return invocation.flag("output") == "json"; }
  absl::string_view server() const { return invocation.flag("server"); }
};

/// Each command, one file each: `cmd_*.cc`. All but Completion, TokenNew and Version make one call
/// of the API; where one cannot do (the current etag, a short id, pages, Doctor, Top), its help
/// says so.
ExitCode RunStatus(CommandContext& context);
ExitCode RunWatch(CommandContext& context);
ExitCode RunCompletion(CommandContext& context);
ExitCode RunConfigGet(CommandContext& context);
ExitCode RunConfigApply(CommandContext& context);
ExitCode RunConfigEdit(CommandContext& context);
ExitCode RunConfigPlan(CommandContext& context);
ExitCode RunConfigRollback(CommandContext& context);
ExitCode RunConfigValidate(CommandContext& context);
ExitCode RunConfigVersions(CommandContext& context);
ExitCode RunDoctor(CommandContext& context);
ExitCode RunDoctorLeaks(CommandContext& context);
ExitCode RunEndpointAdd(CommandContext& context);
ExitCode RunEndpointRemove(CommandContext& context);
ExitCode RunEndpointDrain(CommandContext& context);
ExitCode RunEndpointList(CommandContext& context);
ExitCode RunPoolList(CommandContext& context);
ExitCode RunEndpointResume(CommandContext& context);
ExitCode RunExchangeCancel(CommandContext& context);
ExitCode RunExchangeGet(CommandContext& context);
ExitCode RunExchangeList(CommandContext& context);
ExitCode RunExchangeTail(CommandContext& context);
ExitCode RunServerDrain(CommandContext& context);
ExitCode RunTokenNew(CommandContext& context);
ExitCode RunTop(CommandContext& context);
ExitCode RunUsage(CommandContext& context);
ExitCode RunVersion(CommandContext& context);

absl::Span<const Command> Commands();
/// The rows of it that are about the configuration and its endpoints.
std::vector<Command> ConfigCommands();
/// Those about exchanges.
std::vector<Command> ExchangeCommands();
/// Those that look for faults of the server.
std::vector<Command> DoctorCommands();
/// Those about drains, and the list of endpoints.
std::vector<Command> DrainCommands();

/// All of sluicectl: parses `args` (without the program's name) and runs the command.
ExitCode RunSluicectl(absl::Span<const std::string> args, World& world);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_COMMANDS_H_
