#include "admin/resume_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace sluice::admin {
namespace {

constexpr size_t kMaxTokenBytes = 256;

absl::Status Failed(absl::string_view what, absl::string_view path) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, " ", path, ": ", strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> ResumeFile::Read() const {
  errno = 0;
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return "";
    return Failed("read", path_);
  }
  std::string text(kMaxTokenBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Failed("read", path_);
  text.resize(static_cast<size_t>(file.gcount()));
  absl::StripAsciiWhitespace(&text);
  if (text.empty() || text.size() >= kMaxTokenBytes ||
      !std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isgraph(c); })) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, " holds no resume token; remove it to begin anew"));
  }
  return text;
}

absl::Status ResumeFile::Write(absl::string_view token) const {
  const std::string next = path_ + ".next";
  {
    std::ofstream file(next, std::ios::binary | std::ios::trunc);
    file << token << "\n" << std::flush;
    if (!file) return Failed("write", next);
  }
  if (std::rename(next.c_str(), path_.c_str()) != 0) return Failed("write", path_);
  return absl::OkStatus();
}

}  // namespace sluice::admin
