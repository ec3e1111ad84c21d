#include "lib/dialect/frame_shape.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/ascii.h"

#include "lib/dialect/json.h"

namespace sluice::dialect {
namespace {

// A longer frame is parsed each time, rather than kept.
constexpr size_t kMaxLearnedBytes = 4096;

/// The length of the escape (RFC 8259 section 7) at the start of `text`, or 0 when it is none.
size_t EscapeLength(absl::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return absl::string_view("\"\\/bfnrt").find(text[1]) == text.npos ? 0 : 2;
  if (text.size() < 6) return 0;
  const bool hex = std::all_of(text.begin() + 2, text.begin() + 6,
                               [](unsigned char c) { return absl::ascii_isxdigit(c); });
  return hex ? 6 : 0;
}

/// How many bytes from `at` on are surely plain in a JSON string: no quote, backslash or control
/// byte, and ASCII. Looks at eight at a time.
size_t PlainRun(absl::string_view text, size_t at) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  const auto any_zero = [](uint64_t bytes) { return (bytes - kOnes) & ~bytes & kHighs; };
  size_t run = 0;
  while (text.size() - at - run >= sizeof(uint64_t)) {
    uint64_t bytes;
    std::memcpy(&bytes, text.data() + at + run, sizeof bytes);
    const uint64_t control = (bytes - kOnes * 0x20) & ~bytes & kHighs;
    const uint64_t special = any_zero(bytes ^ kOnes * '"') | any_zero(bytes ^ kOnes * '\\');
    if (((bytes & kHighs) | control | special) != 0) break;
    run += sizeof bytes;
  }
  return run;
}

/// Where the JSON string that goes on at `at` ends (its closing quote), or npos when it is not
/// well-formed.
size_t EndOfString(absl::string_view text, size_t at) {
  at += PlainRun(text, at);
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    size_t length = 1;
    if (c == '"') return at;
    if (c < 0x20) return text.npos;
    if (c == '\\') length = EscapeLength(text.substr(at));
    if (c >= 0x80) length = Utf8SequenceLength(text.substr(at));
    if (length == 0) return text.npos;
    at += length;
  }
  return text.npos;
}

/// Where the JSON integer at `at` ends, or npos when there is none.
size_t EndOfInteger(absl::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
  const bool padded = end - at > 1 && text[at] == '0';
  return end == at || padded ? text.npos : end;
}

}  // namespace

void FrameShape::Learn(absl::string_view data, const AnswerFacts& facts) {
  if (facts.free_values.empty() || data.size() > kMaxLearnedBytes) return;
  learned_.assign(data.data(), data.size());
  free_values_ = facts.free_values;
  tool_call_ = facts.tool_call;
}

std::optional<FrameShape::Match> FrameShape::Find(absl::string_view data) const {
  if (learned_.empty()) return std::nullopt;
  Match match;
  match.content = tool_call_;
  size_t at = 0;        // in data
  size_t compared = 0;  // in learned_
  for (const FreeValue& value : free_values_) {
    const size_t length = value.start - compared;
    if (data.size() - at < length) return std::nullopt;
    if (std::memcmp(data.data() + at, learned_.data() + compared, length) != 0) return std::nullopt;
    at += length;
    compared = value.end;
    const size_t end = value.is_string ? EndOfString(data, at) : EndOfInteger(data, at);
    if (end == data.npos) return std::nullopt;
    match.content |= value.generated && end > at;
    at = end;
  }
  if (data.substr(at) != absl::string_view(learned_).substr(compared)) return std::nullopt;
  return match;
}

}  // namespace sluice::dialect
