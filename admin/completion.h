#ifndef SLUICE_ADMIN_COMPLETION_H_
#define SLUICE_ADMIN_COMPLETION_H_

#include <string>

#include "absl/types/span.h"

#include "admin/command_line.h"

namespace sluice::admin {

// Scripts by which shells complete command lines: the words of commands, flags, the values of both
// where they are known, else names of files. They hold all they know, and ask no server.

std::string BashCompletion(absl::Span<const Command> commands);
std::string ZshCompletion(absl::Span<const Command> commands);
std::string FishCompletion(absl::Span<const Command> commands);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_COMPLETION_H_
