#include "tests/support/http_text.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace sluice::testing {

std::vector<std::string> FieldValues(absl::string_view head, absl::string_view name) {
  std::vector<std::string> values;
  const std::vector<absl::string_view> lines = absl::StrSplit(head, '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(lines[i], absl::MaxSplits(':', 1));
    if (absl::EqualsIgnoreCase(field.first, name)) {
      values.emplace_back(absl::StripAsciiWhitespace(field.second));
    }
  }
  return values;
}

}  // namespace sluice::testing
