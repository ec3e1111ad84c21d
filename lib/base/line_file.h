#ifndef SLUICE_LIB_BASE_LINE_FILE_H_
#define SLUICE_LIB_BASE_LINE_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sluice {

/// A file of lines that only grows, and has whole lines only: what a full disk, a kill or a loss of
/// power has left of a line is cut off, at once or by the next Open. Nobody else may append to it:
/// it is locked (flock) meanwhile. What is no regular file, as a pipe, is written to and neither
/// mended nor locked. Thread-compatible.
class LineFile {
 public:
  /// The file at `path`, which is made if there is none, for the owner and to be read by its group.
  /// FAILED_PRECONDITION: another process appends to it, or it ends with more than 1 MiB that is no
  /// line and so is something else. Other codes are the system's; the message begins with the path.
  static absl::StatusOr<std::unique_ptr<LineFile>> Open(const std::string& path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// Appends `lines`, each of which ends with its newline, with one write(2) if the system takes
  /// them so. They are in the file when the process is killed thereafter; only Sync makes them
  /// survive the machine. Takes off `lines` what is in the file now: after an error, e.g.
  /// RESOURCE_EXHAUSTED of a full disk, whole lines remain.
  absl::Status Append(absl::string_view* lines);
  /// Has the disk confirm what was appended (fdatasync).
  absl::Status Sync();
  /// If the path does not name this file any more, as after logrotate, goes on in a new one of that
  /// name; after an error in the old one.
  absl::Status FollowPath();

 private:
  LineFile(std::string path, int fd, bool regular)
      : path_(std::move(path)), fd_(fd), regular_(regular) {}

  /// Cuts off the last line if it is not whole.
  absl::Status Mend();
  bool MovedAway() const;
  absl::Status Error() const;

  const std::string path_;
  int fd_;
  bool regular_;
  bool torn_ = false;  // the file may end with a part of a line
};

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_LINE_FILE_H_
