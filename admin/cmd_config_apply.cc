#include <array>
#include <errno.h>
#include <fstream>
#include <string.h>
#include <string>

#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

absl::StatusOr<std::string> ReadAll(const std::string& path, std::istream& standard_input) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& source = path == "-" ? standard_input : file;
  std::string content;
  std::array<char, 65536> buffer;
  while (source.read(buffer.data(), buffer.size()) || source.gcount() > 0) {
    content.append(buffer.data(), static_cast<size_t>(source.gcount()));
  }
  if (source.bad() || (path != "-" && !file.is_open())) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", strerror(errno)));
  }
  return content;
}

}  // namespace

ExitCode RunConfigApply(CommandContext& context) {
  std::ostream& err = context.world.err;
  const std::string& path = context.invocation.arguments[0];
  const auto content = ReadAll(path, context.world.in);
  if (!content.ok()) {
    err << "sluicectl: " << EscapeText(content.status().message()) << "\n";
    return ExitCode::kUsage;
  }
  const auto file = ParseConfigFile(*content);
  if (!file.ok()) {
    err << "sluicectl: " << EscapeText(path) << " is no configuration, nothing was sent:\n  "
        << EscapeText(file.status().message()) << "\n";
    return ExitCode::kInvalidConfig;
  }

  control::v1::UpdateConfigRequest request;
  *request.mutable_config() = *file;
  const std::string whole = "*";  // AIP-134: replace all of it
  request.mutable_update_mask()->add_paths(whole);
  if (file->etag().empty()) {
    const auto current = context.client.GetConfig();
    if (!current.ok()) return ReportCallError(current.status(), context.server(), err);
    request.mutable_config()->set_etag(current->etag());
  }
  const auto applied = context.client.UpdateConfig(request);
  if (!applied.ok()) return ReportCallError(applied.status(), context.server(), err);
  if (context.json()) {
    context.world.out << ToJson(*applied) + "\n";
  } else {
    context.world.out << "applied: generation " << applied->generation() << ", etag "
                      << EscapeName(applied->etag()) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
