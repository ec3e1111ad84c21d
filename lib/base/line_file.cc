#include "lib/base/line_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/base/status.h"

namespace sluice {
namespace {

constexpr off_t kLongestTornLine = off_t{1} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<LineFile>> LineFile::Open(const std::string& path) {
  // To be read as well: Mend does that.
  const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                        S_IRUSR | S_IWUSR | S_IRGRP);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  struct stat found;
  const bool regular = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
  std::unique_ptr<LineFile> file(new LineFile(path, fd, regular));
  if (!regular) return file;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return file->Error();
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": another process appends to this file"));
  }
  SLUICE_RETURN_IF_ERROR(file->Mend());
  return file;
}

LineFile::~LineFile() { ::close(fd_); }

absl::Status LineFile::Append(absl::string_view* lines) {
  if (torn_) SLUICE_RETURN_IF_ERROR(Mend());
  absl::Status status;
  size_t written = 0;
  while (written < lines->size()) {
    const ssize_t count = ::write(fd_, lines->data() + written, lines->size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      status = Error();
      break;
    }
    written += static_cast<size_t>(count);
  }
  const size_t whole = lines->substr(0, written).rfind('\n') + 1;  // after npos: 0
  torn_ = regular_ && whole < written;
  lines->remove_prefix(whole);
  // If that fails, the next call begins with it.
  if (torn_) Mend().IgnoreError();
  return status;
}

absl::Status LineFile::Sync() {
  // EINVAL: a pipe or the like has nothing to confirm.
  if (::fdatasync(fd_) == 0 || errno == EINVAL) return absl::OkStatus();
  return Error();
}

absl::Status LineFile::FollowPath() {
  if (!MovedAway()) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<LineFile> next, Open(path_));
  std::swap(fd_, next->fd_);
  std::swap(regular_, next->regular_);
  std::swap(torn_, next->torn_);
  return absl::OkStatus();
}

absl::Status LineFile::Mend() {
  struct stat found;
  if (::fstat(fd_, &found) != 0) return Error();
  std::array<char, 4096> buffer;
  off_t end = found.st_size;  // nothing after it is part of a whole line
  while (end > 0) {
    const off_t start = std::max<off_t>(0, end - static_cast<off_t>(buffer.size()));
    const ssize_t got = ::pread(fd_, buffer.data(), static_cast<size_t>(end - start), start);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error();
    const size_t whole = absl::string_view(buffer.data(), static_cast<size_t>(got)).rfind('\n') + 1;
    end = start + static_cast<off_t>(whole);
    if (whole > 0) break;
    if (found.st_size - end > kLongestTornLine) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": this is no file of lines, and so nothing is appended to it"));
    }
  }
  if (end < found.st_size) {
    if (::ftruncate(fd_, end) != 0) return Error();
    Log(LogLevel::kWarning, "the end of a file was no whole line and was cut off",
        {{"path", path_}, {"bytes", found.st_size - end}});
  }
  torn_ = false;
  return absl::OkStatus();
}

bool LineFile::MovedAway() const {
  struct stat named;
  struct stat open;
  if (::stat(path_.c_str(), &named) != 0) return true;
  return ::fstat(fd_, &open) != 0 || named.st_dev != open.st_dev || named.st_ino != open.st_ino;
}

absl::Status LineFile::Error() const { return absl::ErrnoToStatus(errno, path_); }

}  // namespace sluice
