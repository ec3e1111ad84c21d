#include "lib/dialect/json.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rapidjson/encodings.h"

namespace sluice::dialect {
namespace {

// Few enough for any double, too many for a token count.
constexpr int kMaxDigits = 200;

struct NullOutput {
  void Put(char) {}
};

/// The code unit of the `\uXXXX` at the start of `text`, or -1.
int64_t EscapedCodeUnit(absl::string_view text) {
  uint32_t unit = 0;
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return -1;
  for (const char digit : text.substr(2, 4)) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(digit))) return -1;
  }
  return absl::SimpleHexAtoi(text.substr(2, 4), &unit) ? int64_t{unit} : -1;
}

/// Copies the escape at the start of `text` and returns its length.
size_t CopyEscape(absl::string_view text, std::string& out) {
  const int64_t unit = EscapedCodeUnit(text);
  size_t length = unit < 0 ? 2 : 6;
  if (unit >= 0xD800 && unit <= 0xDFFF) {
    const int64_t next = EscapedCodeUnit(text.substr(6));
    if (unit > 0xDBFF || next < 0xDC00 || next > 0xDFFF) {
      out += "\\ufffd";
      return length;
    }
    length = 12;
  }
  out.append(text.data(), std::min(length, text.size()));
  return length;
}

}  // namespace

std::string ReadableCopy(absl::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  bool in_exponent = false;
  int digits = 0;
  size_t lost = 0;  // digits of the number being copied
  for (size_t i = 0; i < json.size();) {
    const char c = json[i];
    if (c == '\\') {
      i += CopyEscape(json.substr(i), out);
      continue;
    }
    ++i;
    if (c == '"') in_string = !in_string;
    if (!in_string && absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      if (++digits > (in_exponent ? 1 : kMaxDigits)) {
        ++lost;
        continue;
      }
    } else if (c == 'e' || c == 'E' || c == '+' || c == '-') {
      in_exponent = in_exponent || c == 'e' || c == 'E';
      digits = 0;
    } else {
      in_exponent = false;
      digits = 0;
      if (c != '.') out.append(std::exchange(lost, 0), ' ');
    }
    out += c;
  }
  out.append(lost, ' ');
  return out;
}

size_t ByteOrderMarkLength(absl::string_view body) {
  constexpr absl::string_view kMark = "\xEF\xBB\xBF";
  return absl::StartsWith(body, kMark) ? kMark.size() : 0;
}

size_t Utf8SequenceLength(absl::string_view text) {
  rapidjson::MemoryStream source(text.data(), text.size());
  NullOutput nowhere;
  return !text.empty() && rapidjson::UTF8<>::Validate(source, nowhere) ? source.Tell() : 0;
}

std::string ReplaceInvalidUtf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    absl::StrAppend(&out, length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace sluice::dialect
