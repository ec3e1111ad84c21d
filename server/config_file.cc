#include "server/config_file.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "lib/base/read_file.h"
#include "lib/base/status.h"
#include "lib/config/validate.h"
#include "server/config_convert.h"
#include "server/proto_json.h"

namespace sluice::server {

absl::StatusOr<config::Config> ParseConfig(absl::string_view json) {
  control::v1::Config proto;
  SLUICE_RETURN_IF_ERROR(FromJson(json, &proto));
  std::vector<config::Violation> violations;
  config::Config config = FromProto(proto, &violations);
  for (config::Violation& found : Validate(config)) violations.push_back(std::move(found));
  if (!violations.empty()) return absl::InvalidArgumentError(ToString(violations));
  return config;
}

absl::StatusOr<config::Config> ReadConfigFile(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  absl::StatusOr<config::Config> config = ParseConfig(text);
  if (!config.ok()) {
    return absl::Status(config.status().code(),
                        absl::StrCat(path, ":\n", config.status().message()));
  }
  return config;
}

}  // namespace sluice::server
