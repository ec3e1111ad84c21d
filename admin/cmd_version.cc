#include "admin/commands.h"

namespace sluice::admin {

ExitCode RunVersion(CommandContext& context) {
  if (context.json()) {
    context.world.out << "{\"version\":\"" SLUICE_VERSION "\"}\n";
  } else {
    context.world.out << "sluicectl " SLUICE_VERSION "\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
