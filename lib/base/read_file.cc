#include "lib/base/read_file.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>

#include "absl/status/status.h"

namespace sluice {

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
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

}  // namespace sluice
