#ifndef SLUICE_LIB_BASE_ACCESS_FILE_H_
#define SLUICE_LIB_BASE_ACCESS_FILE_H_

#include <string>
#include <sys/stat.h>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sluice {

/// Goes through the text of a file that says who may do what, one a line; blank lines and lines
/// that begin with `#` do not count. `add` takes the fields of a line and returns what is wrong
/// with it, "" if nothing is. Returns the wrong lines by number, at most 20 and then "and more".
std::vector<std::string> ReadAccessLines(
    absl::string_view text,
    absl::FunctionRef<std::string(const std::vector<absl::string_view>&)> add);

/// Such a file, which may change while it is in use. Thread-compatible.
class AccessFile {
 public:
  /// Looks at it.
  explicit AccessFile(const std::string& path);

  /// Looks again; whether it is another one than at the last look. One that has gone is.
  bool HasChanged();

  bool is_regular() const { return S_ISREG(seen_.st_mode); }
  bool is_there() const { return seen_.st_mode != 0; }
  const std::string& path() const { return path_; }

  /// What it says. INVALID_ARGUMENT: anybody may write it. Other codes: it cannot be read. The
  /// message begins with the path.
  absl::StatusOr<std::string> Read() const;

 private:
  const std::string path_;
  struct stat seen_ = {};  // at the last look; all zero if there was none
};

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_ACCESS_FILE_H_
