#include "admin/escape.h"

#include <cstddef>

#include "absl/strings/str_format.h"

namespace sluice::admin {
namespace {

/// The length of the UTF-8 sequence of a printable character at the start of `text`; 0 if there is
/// none.
size_t PrintableLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_c1_control = first == 0xc2 && byte(1) < 0xa0;
  return is_c1_control ? 0 : length;
}

void AppendHex(char byte, std::string* out) {
  absl::StrAppendFormat(out, "\\x%02x", static_cast<unsigned char>(byte));
}

std::string Escape(absl::string_view text, bool escape_space) {
  std::string out;
  while (!text.empty()) {
    const size_t length = PrintableLength(text);
    if (text[0] == '\\') {
      out += "\\\\";
    } else if (length == 0 || (escape_space && text[0] == ' ')) {
      AppendHex(text[0], &out);
    } else {
      out.append(text.data(), length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace

std::string EscapeText(absl::string_view text) { return Escape(text, /*escape_space=*/false); }

std::string EscapeData(absl::string_view data) {
  std::string out;
  while (!data.empty()) {
    const size_t length = data[0] == '\n' ? 1 : PrintableLength(data);
    if (length == 0) {
      AppendHex(data[0], &out);
    } else {
      out.append(data.data(), length);
    }
    data.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string EscapeName(absl::string_view name) {
  return name.empty() ? "-" : Escape(name, /*escape_space=*/true);
}

}  // namespace sluice::admin
