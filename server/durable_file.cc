#include "server/durable_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::server {
namespace {

/// Writes all of `text` and has the disk confirm it.
absl::Status WriteAndSync(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, "cannot write");
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(fd) != 0) return absl::ErrnoToStatus(errno, "cannot flush to the disk");
  return absl::OkStatus();
}

absl::Status WriteNewFile(int directory, const std::string& name, absl::string_view text) {
  const int fd = ::openat(directory, name.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot create a file");
  absl::Status written = WriteAndSync(fd, text);
  if (::close(fd) != 0 && written.ok()) written = absl::ErrnoToStatus(errno, "cannot write");
  return written;
}

}  // namespace

absl::Status WriteDurably(int directory, const std::string& name, absl::string_view text,
                          const std::string& unfinished) {
  if (absl::Status written = WriteNewFile(directory, unfinished, text); !written.ok()) {
    ::unlinkat(directory, unfinished.c_str(), 0);
    return written;
  }
  if (::renameat(directory, unfinished.c_str(), directory, name.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot rename a file");
  }
  if (::fsync(directory) != 0) {
    const absl::Status failed = absl::ErrnoToStatus(errno, "cannot flush to the disk");
    ::unlinkat(directory, name.c_str(), 0);
    return failed;
  }
  return absl::OkStatus();
}

}  // namespace sluice::server
