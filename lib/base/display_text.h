#ifndef SLUICE_LIB_BASE_DISPLAY_TEXT_H_
#define SLUICE_LIB_BASE_DISPLAY_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace sluice {

/// `bytes` from a peer as text that a proto string may hold: each byte that is not part of valid
/// UTF-8 (RFC 3629) becomes U+FFFD, and what goes over `max_bytes` is cut off between two
/// characters. A watcher's parser would refuse a whole response on account of one such byte.
std::string DisplayText(absl::string_view bytes, size_t max_bytes);

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_DISPLAY_TEXT_H_
