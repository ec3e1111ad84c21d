#ifndef SLUICE_ADMIN_RESUME_FILE_H_
#define SLUICE_ADMIN_RESUME_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sluice::admin {

/// A file with the place in the events where a watch goes on. One watch at a time may use it.
class ResumeFile {
 public:
  explicit ResumeFile(absl::string_view path) : path_(path) {}

  /// The token it holds; "" when there is no such file. FAILED_PRECONDITION: it holds something
  /// else; UNAVAILABLE: it cannot be read.
  absl::StatusOr<std::string> Read() const;

  /// Replaces the file whole: whenever this process is killed, it holds `token` or what it held
  /// before. UNAVAILABLE: it cannot be written.
  absl::Status Write(absl::string_view token) const;

 private:
  const std::string path_;
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_RESUME_FILE_H_
