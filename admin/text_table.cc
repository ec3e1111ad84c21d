#include "admin/text_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace sluice::admin {
namespace {

/// Whether a byte of UTF-8 goes on with the character before it.
bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::string Spaces(size_t count) { return std::string(count, ' '); }

/// The first `count` characters of `text`.
absl::string_view Characters(absl::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (IsContinuation(text[end])) continue;
    if (count-- == 0) break;
  }
  return text.substr(0, end);
}

}  // namespace

size_t DisplayWidth(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !IsContinuation(byte); }));
}

std::string Fit(absl::string_view text, size_t width, bool right) {
  const size_t needed = DisplayWidth(text);
  if (needed > width) {
    return width == 0 ? "" : absl::StrCat(Characters(text, width - 1), "~");
  }
  const std::string fill = Spaces(width - needed);
  return right ? absl::StrCat(fill, text) : absl::StrCat(text, fill);
}

std::string TextTable::Text() const {
  std::vector<std::string> head;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    head.emplace_back(column.title);
    widths.push_back(DisplayWidth(column.title));
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      absl::StrAppend(&line, i == 0 ? "" : "  ", Fit(cells[i], widths[i], columns_[i].right));
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  };
  add_line(head);
  for (const std::vector<std::string>& row : rows_) add_line(row);
  return text;
}

}  // namespace sluice::admin
