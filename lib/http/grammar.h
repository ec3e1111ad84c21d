#ifndef SLUICE_LIB_HTTP_GRAMMAR_H_
#define SLUICE_LIB_HTTP_GRAMMAR_H_

#include "absl/strings/string_view.h"

namespace sluice::http {

/// Whether `byte` may stand in a header value, a reason phrase or a chunk extension: a tab or any
/// byte that is no control (RFC 9110 section 5.5).
inline bool IsTextByte(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return (value >= 0x20 && value != 0x7f) || value == '\t';
}

/// Whether `text` is all text bytes.
bool IsText(absl::string_view text);

/// Whether `text` is a token (RFC 9110 section 5.6.2): a method, or the name of a header.
bool IsToken(absl::string_view text);

/// Whether `text` may stand as a request target in a request line: not empty, no space, no control.
bool IsTarget(absl::string_view text);

/// Whether `text` is `host [":" port]` with a name of letters, digits and `-._~`, an IPv4 address,
/// or an IPv6 address in brackets. Narrower than RFC 3986 section 3.2: no user part, no
/// percent-encoding, no sub-delimiters, which names of hosts do not have and parsers read
/// differently.
bool IsAuthority(absl::string_view text);

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_GRAMMAR_H_
