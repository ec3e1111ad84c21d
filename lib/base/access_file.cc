#include "lib/base/access_file.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "lib/base/read_file.h"

namespace sluice {
namespace {

constexpr size_t kMaxProblems = 20;

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_mode == b.st_mode;
}

}  // namespace

std::vector<std::string> ReadAccessLines(
    absl::string_view text,
    absl::FunctionRef<std::string(const std::vector<absl::string_view>&)> add) {
  std::vector<std::string> problems;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string problem =
        add(absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty()));
    if (problem.empty()) continue;
    if (problems.size() == kMaxProblems) {
      problems.push_back("and more");
      break;
    }
    problems.push_back(absl::StrCat("line ", number, ": ", problem));
  }
  return problems;
}

AccessFile::AccessFile(const std::string& path) : path_(path) { stat(path.c_str(), &seen_); }

bool AccessFile::HasChanged() {
  struct stat found = {};
  stat(path_.c_str(), &found);
  // What is written between this look and Read differs from `found` at the next look.
  return !SameFile(std::exchange(seen_, found), found);
}

absl::StatusOr<std::string> AccessFile::Read() const {
  if ((seen_.st_mode & S_IWOTH) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": anybody on this host may write it: chmod o-w it"));
  }
  return ReadWholeFile(path_);
}

}  // namespace sluice
