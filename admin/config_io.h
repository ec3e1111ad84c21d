#ifndef SLUICE_ADMIN_CONFIG_IO_H_
#define SLUICE_ADMIN_CONFIG_IO_H_

#include <optional>
#include <string>

#include "admin/commands.h"
#include "admin/exit_code.h"

namespace sluice::admin {

// What the commands that change the configuration read and print alike. A function that fails tells
// the user why, and sets `code` to what to exit with.

/// The configuration in the file `path`; `-` is standard input.
std::optional<control::v1::Config> ReadConfig(CommandContext& context, const std::string& path,
                                              ExitCode* code);

/// What --etag says, else the etag of the configuration in force, for which it asks the server.
std::optional<std::string> EtagToChange(CommandContext& context, ExitCode* code);

/// Prints what a call has changed, or reports that it failed.
ExitCode PrintApplied(CommandContext& context, const absl::StatusOr<control::v1::Config>& applied);

/// The whole configuration of `config`, to be applied under its etag.
control::v1::UpdateConfigRequest UpdateOfAll(control::v1::Config config);

/// The generation that a flag or an argument gives. Says on `world.err` if it is none.
std::optional<int64_t> ParseGeneration(CommandContext& context, absl::string_view text);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_CONFIG_IO_H_
