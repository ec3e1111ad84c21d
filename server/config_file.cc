#include "server/config_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

#include "lib/base/status.h"
#include "lib/config/validate.h"
#include "server/config_convert.h"

namespace sluice::server {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return absl::ErrnoToStatus(errno, path);
  std::string text;
  char buffer[4096];
  while (const size_t size = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, size);
  }
  if (std::ferror(file.get()) != 0) return absl::ErrnoToStatus(errno, path);
  return text;
}

}  // namespace

absl::StatusOr<config::Config> ParseConfig(absl::string_view json) {
  control::v1::Config proto;
  const google::protobuf::util::Status parsed = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &proto);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("is not the JSON of a sluice.control.v1.Config: ",
                     absl::string_view(parsed.message().data(), parsed.message().size())));
  }
  std::vector<config::Violation> violations;
  config::Config config = FromProto(proto, &violations);
  for (config::Violation& found : Validate(config)) violations.push_back(std::move(found));
  if (!violations.empty()) return absl::InvalidArgumentError(ToString(violations));
  return config;
}

absl::StatusOr<config::Config> ReadConfigFile(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<config::Config> config = ParseConfig(text);
  if (!config.ok()) {
    return absl::Status(config.status().code(),
                        absl::StrCat(path, ":\n", config.status().message()));
  }
  return config;
}

}  // namespace sluice::server
