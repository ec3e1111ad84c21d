#ifndef SLUICE_TESTS_SUPPORT_HTTP_TEXT_H_
#define SLUICE_TESTS_SUPPORT_HTTP_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice::testing {

/// The values of every field `name` (case ignored) of a raw head, in wire order, outer blanks
/// stripped. The first line is no field. Lenient.
std::vector<std::string> FieldValues(absl::string_view head, absl::string_view name);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_HTTP_TEXT_H_
