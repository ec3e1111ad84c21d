#ifndef SLUICE_ADMIN_COMMANDS_H_
#define SLUICE_ADMIN_COMMANDS_H_

#include <istream>
#include <ostream>
#include <stop_token>
#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "admin/command_line.h"
#include "admin/control_client.h"
#include "admin/exit_code.h"
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
};

/// What a command works with.
struct CommandContext {
  const Invocation& invocation;
  ControlClient& client;
  World& world;

  bool json() const { return invocation.flag("output") == "json"; }
  absl::string_view server() const { return invocation.flag("server"); }
};

/// Each command, one file each: `cmd_*.cc`. All but Version make one call of the API; ConfigApply
/// reads the current etag first unless its file has one.
ExitCode RunStatus(CommandContext& context);
ExitCode RunWatch(CommandContext& context);
ExitCode RunConfigGet(CommandContext& context);
ExitCode RunConfigApply(CommandContext& context);
ExitCode RunVersion(CommandContext& context);

absl::Span<const Command> Commands();

/// All of sluicectl: parses `args` (without the program's name) and runs the command.
ExitCode RunSluicectl(absl::Span<const std::string> args, World& world);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_COMMANDS_H_
