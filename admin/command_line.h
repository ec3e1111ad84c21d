#ifndef SLUICE_ADMIN_COMMAND_LINE_H_
#define SLUICE_ADMIN_COMMAND_LINE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "admin/exit_code.h"

namespace sluice::admin {

struct CommandContext;

/// One `--name VALUE`, or a switch, `--name`.
struct Flag {
  absl::string_view name;        // without the dashes; a switch for one command is one for all
  absl::string_view value_name;  // in help: "HOST:PORT|unix:PATH"; "" for a switch
  absl::string_view env;         // variable that gives the value when the flag does not; "" if none
  absl::string_view default_value;  // "" if none
  absl::string_view help;
  /// What the value, or each element of a list, may be; null if that is not known here or
  /// `value_name` says it: "text|json".
  std::vector<std::string> (*values)() = nullptr;
};

/// One command: the row its parsing and its help come from.
struct Command {
  absl::string_view name;            // one or two words: "config apply"
  absl::string_view arguments = "";  // one word each: "POOL ID URI"; "" if it takes none
  absl::string_view summary;         // one line, in the list of commands
  absl::string_view details = "";    // whole lines
  absl::string_view rpc = "";        // "ControlService.UpdateConfig"; "" if it calls none
  absl::string_view output;          // what goes to standard output, whole lines
  absl::string_view examples;        // whole lines
  std::vector<Flag> flags = {};      // its own, beside GlobalFlags()
  ExitCode (*run)(CommandContext& context);
};

/// The flags that every command takes.
absl::Span<const Flag> GlobalFlags();

/// What a command line says.
struct Invocation {
  const Command* command = nullptr;  // null: help about sluicectl itself
  bool help = false;                 // show help on `command` instead of running it
  std::map<std::string, std::string, std::less<>>
      flags;  // every flag that has a value, by its name
  std::vector<std::string> arguments;

  /// The value of a flag the command or all commands have; "" if it has none. Of a switch that is
  /// on: "on".
  absl::string_view flag(absl::string_view name) const;
};

/// Looks up an environment variable; nothing if it is not set or empty.
using Environment = std::function<std::optional<std::string>(absl::string_view name)>;

/// Parses `args` (without the program's name). Flags may stand anywhere, as `--name VALUE` or
/// `--name=VALUE`, switches as `--name`; `--` ends them. A flag wins over its variable.
/// INVALID_ARGUMENT: the message says what is wrong and where to look.
absl::StatusOr<Invocation> ParseCommandLine(absl::Span<const std::string> args,
                                            absl::Span<const Command> commands,
                                            const Environment& environment);

/// The text of `sluicectl help`, and of `sluicectl help COMMAND`.
std::string HelpText(absl::Span<const Command> commands);
std::string HelpText(const Command& command);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_COMMAND_LINE_H_
