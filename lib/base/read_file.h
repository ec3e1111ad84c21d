#ifndef SLUICE_LIB_BASE_READ_FILE_H_
#define SLUICE_LIB_BASE_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace sluice {

/// All that the file at `path` holds. The code tells why it cannot be read, e.g. NOT_FOUND; the
/// message begins with the path.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_READ_FILE_H_
