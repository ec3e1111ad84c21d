#include "lib/config/glob.h"

#include <algorithm>

namespace sluice::config {

bool GlobMatches(absl::string_view pattern, absl::string_view text) {
  size_t p = 0;
  size_t t = 0;
  // Where to go on if what follows the last `*` does not match: it stands for one byte more.
  size_t after_star = absl::string_view::npos;
  size_t star_end = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_end = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (after_star != absl::string_view::npos) {
      p = after_star;
      t = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == absl::string_view::npos;
}

bool IsGlob(absl::string_view pattern) {
  return pattern.find_first_of("*?") != absl::string_view::npos;
}

size_t LiteralBytes(absl::string_view pattern) {
  return pattern.size() -
         static_cast<size_t>(std::count_if(pattern.begin(), pattern.end(),
                                           [](char c) { return c == '*' || c == '?'; }));
}

}  // namespace sluice::config
