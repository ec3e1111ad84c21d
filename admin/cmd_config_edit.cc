#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "admin/call_error.h"
#include "admin/config_io.h"
#include "admin/escape.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

/// A new file for its owner alone; "" if none could be made.
std::string NewFile(const std::string& text) {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error) / "sluice-config-XXXXXX.json";
  const int fd = ::mkstemps(path.data(), sizeof(".json") - 1);
  if (fd < 0) return "";
  ::close(fd);
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file.good() ? path : "";
}

std::string EditorOf(const Environment& environment) {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    if (const auto editor = environment(name)) return *editor;
  }
  return "vi";
}

/// One round: the user edits, the server judges. kInvalidConfig: another round may help.
ExitCode EditAndApply(CommandContext& context, const v1::Config& current, const std::string& path) {
  std::ostream& err = context.world.err;
  const std::string editor = EditorOf(context.world.environment);
  if (!context.world.edit(editor, path)) {
    err << "sluicectl: the editor failed, nothing was changed: " << EscapeText(editor) << "\n";
    return ExitCode::kError;
  }
  ExitCode failed = ExitCode::kOk;
  auto edited = ReadConfig(context, path, &failed);
  if (!edited) return failed;
  edited->set_etag(current.etag());
  if (ToConfigFile(*edited) == ToConfigFile(current)) {
    err << "sluicectl: nothing was edited, nothing was changed\n";
    return ExitCode::kOk;
  }
  return PrintApplied(context, context.client.UpdateConfig(UpdateOfAll(*std::move(edited))));
}

}  // namespace

ExitCode RunConfigEdit(CommandContext& context) {
  std::ostream& err = context.world.err;
  const auto current = context.client.GetConfig();
  if (!current.ok()) return ReportCallError(current.status(), context.server(), err);
  const std::string path = NewFile(ToConfigFile(*current));
  if (path.empty()) {
    err << "sluicectl: cannot write a file to edit; does TMPDIR name a directory?\n";
    return ExitCode::kError;
  }
  ExitCode code = EditAndApply(context, *current, path);
  while (code == ExitCode::kInvalidConfig) {
    err << "Press Enter to edit it again, Ctrl-D to leave it.\n";
    std::string line;
    if (!std::getline(context.world.in, line) || context.world.stop.stop_requested()) break;
    code = EditAndApply(context, *current, path);
  }
  if (code == ExitCode::kOk) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  } else {
    err << "Your text is kept in " << EscapeText(path) << "\n";
  }
  return code;
}

}  // namespace sluice::admin
