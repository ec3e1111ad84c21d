#ifndef SLUICE_ADMIN_ESCAPE_H_
#define SLUICE_ADMIN_ESCAPE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sluice::admin {

/// `text` with everything that could steer a terminal or forge a line made visible: control bytes,
/// DEL, the C1 controls (U+0080 to U+009F), bytes that are no UTF-8, as `\xNN`; a backslash as
/// `\\`.
std::string EscapeText(absl::string_view text);

/// As EscapeText, but a space is `\x20` too, so that a name stays one column; "-" for an empty one.
std::string EscapeName(absl::string_view name);

/// As EscapeText, but newlines and backslashes stay: text that people read, and that a program can
/// still take for JSON.
std::string EscapeData(absl::string_view data);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_ESCAPE_H_
