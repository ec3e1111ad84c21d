#ifndef SLUICE_LIB_CONFIG_GLOB_H_
#define SLUICE_LIB_CONFIG_GLOB_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace sluice::config {

/// Whether `text` matches `pattern`, in which `*` stands for any text and `?` for one byte; other
/// bytes stand for themselves. Takes time in proportion to the product of the lengths at most.
bool GlobMatches(absl::string_view pattern, absl::string_view text);

/// Whether `pattern` matches other texts than itself.
bool IsGlob(absl::string_view pattern);

/// How many bytes of `pattern` stand for themselves.
size_t LiteralBytes(absl::string_view pattern);

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_GLOB_H_
