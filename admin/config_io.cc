#include "admin/config_io.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/escape.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

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

std::optional<v1::Config> ReadConfig(CommandContext& context, const std::string& path,
                                     ExitCode* code) {
  const auto content = ReadAll(path, context.world.in);
  if (!content.ok()) {
    context.world.err << "sluicectl: " << EscapeText(content.status().message()) << "\n";
    *code = ExitCode::kUsage;
    return std::nullopt;
  }
  if (context.world.stop.stop_requested()) {
    context.world.err << "sluicectl: interrupted, nothing was sent\n";
    *code = ExitCode::kError;
    return std::nullopt;
  }
  auto config = ParseConfigFile(*content);
  if (!config.ok()) {
    context.world.err << "sluicectl: " << EscapeText(path)
                      << " is no configuration, nothing was sent:\n  "
                      << EscapeText(config.status().message()) << "\n";
    *code = ExitCode::kInvalidConfig;
    return std::nullopt;
  }
  return *std::move(config);
}

std::optional<std::string> EtagToChange(CommandContext& context, ExitCode* code) {
  const absl::string_view given = context.invocation.flag("etag");
  if (!given.empty()) return std::string(given);
  const auto current = context.client.GetConfig();
  if (current.ok()) return current->etag();
  *code = ReportCallError(current.status(), context.server(), context.world.err);
  return std::nullopt;
}

ExitCode PrintApplied(CommandContext& context, const absl::StatusOr<v1::Config>& applied) {
  if (!applied.ok()) {
    return ReportCallError(applied.status(), context.server(), context.world.err);
  }
  if (context.json()) {
    context.world.out << ToJson(*applied) + "\n";
  } else {
    context.world.out << "applied: generation " << applied->generation() << ", etag "
                      << EscapeName(applied->etag()) << "\n";
  }
  return ExitCode::kOk;
}

v1::UpdateConfigRequest UpdateOfAll(v1::Config config) {
  v1::UpdateConfigRequest request;
  *request.mutable_config() = std::move(config);
  const std::string whole = "*";  // AIP-134: replace all of it
  request.mutable_update_mask()->add_paths(whole);
  return request;
}

std::optional<int64_t> ParseGeneration(CommandContext& context, absl::string_view text) {
  int64_t generation = 0;
  if (absl::SimpleAtoi(text, &generation) && generation >= 0) return generation;
  context.world.err << "sluicectl: not a generation: " << EscapeText(text)
                    << "\nSee `sluicectl config versions`.\n";
  return std::nullopt;
}

}  // namespace sluice::admin
