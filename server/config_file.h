#ifndef SLUICE_SERVER_CONFIG_FILE_H_
#define SLUICE_SERVER_CONFIG_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/config/config.h"

namespace sluice::server {

/// A configuration from the proto JSON of `sluice.control.v1.Config`. Unknown fields are refused.
/// INVALID_ARGUMENT: the message lists all problems, one per line as "path: reason"; for text that
/// is not such JSON at all, it says where.
absl::StatusOr<config::Config> ParseConfig(absl::string_view json);

/// ParseConfig of a file. Another code, e.g. NOT_FOUND or PERMISSION_DENIED, when it cannot be
/// read. Every message begins with the path.
absl::StatusOr<config::Config> ReadConfigFile(const std::string& path);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONFIG_FILE_H_
