#include "admin/commands.h"
#include "admin/completion.h"
#include "admin/escape.h"

namespace sluice::admin {

ExitCode RunCompletion(CommandContext& context) {
  const std::string& shell = context.invocation.arguments[0];
  std::ostream& out = context.world.out;
  if (shell == "bash") {
    out << BashCompletion(Commands());
  } else if (shell == "zsh") {
    out << ZshCompletion(Commands());
  } else if (shell == "fish") {
    out << FishCompletion(Commands());
  } else {
    context.world.err << "sluicectl: not one of bash, zsh, fish: " << EscapeText(shell)
                      << "\nSee `sluicectl help completion`.\n";
    return ExitCode::kUsage;
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
