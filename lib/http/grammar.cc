#include "lib/http/grammar.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace sluice::http {
namespace {

constexpr size_t kMaxPortDigits = 5;

template <typename Predicate>
bool IsAllOf(absl::string_view text, Predicate predicate) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

bool IsAnyOf(absl::string_view set, char byte) { return set.find(byte) != absl::string_view::npos; }

bool IsIpv6Byte(char byte) { return absl::ascii_isxdigit(byte) || IsAnyOf(":.", byte); }

bool IsHostNameByte(char byte) { return absl::ascii_isalnum(byte) || IsAnyOf("-._~", byte); }

}  // namespace

bool IsText(absl::string_view text) { return std::all_of(text.begin(), text.end(), IsTextByte); }

bool IsToken(absl::string_view text) {
  return IsAllOf(text, [](char byte) {
    return absl::ascii_isalnum(byte) || IsAnyOf("!#$%&'*+-.^_`|~", byte);
  });
}

bool IsTarget(absl::string_view text) {
  return IsAllOf(text, [](char byte) { return IsTextByte(byte) && byte != ' ' && byte != '\t'; });
}

bool IsAuthority(absl::string_view text) {
  absl::string_view port;
  const bool bracketed = !text.empty() && text.front() == '[';
  const size_t host_end = bracketed ? text.find(']') : text.find(':');
  if (bracketed && host_end == absl::string_view::npos) return false;
  if (host_end != absl::string_view::npos) {
    port = text.substr(bracketed ? host_end + 1 : host_end);
    text = text.substr(0, host_end);
  }
  if (!port.empty()) {
    if (port.front() != ':') return false;
    port.remove_prefix(1);
    if (port.size() > kMaxPortDigits || !IsAllOf(port, absl::ascii_isdigit)) return false;
  }
  if (bracketed) return IsAllOf(text.substr(1), IsIpv6Byte);
  return IsAllOf(text, IsHostNameByte);
}

}  // namespace sluice::http
