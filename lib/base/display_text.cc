#include "lib/base/display_text.h"

#include <cstdint>

namespace sluice {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";

/// The length of the valid UTF-8 sequence that begins `bytes`, which is not empty; 0: there is
/// none.
size_t SequenceLength(absl::string_view bytes) {
  const auto byte = [bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || bytes.size() < length) return 0;
  // The second byte's range rules out over-long forms, surrogates and what is past U+10FFFF.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string DisplayText(absl::string_view bytes, size_t max_bytes) {
  std::string text;
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    const absl::string_view character = length == 0 ? kReplacement : bytes.substr(0, length);
    if (text.size() + character.size() > max_bytes) break;
    text.append(character.data(), character.size());
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace sluice
