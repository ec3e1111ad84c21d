#ifndef SLUICE_TESTS_DIALECT_BODY_PARTS_H_
#define SLUICE_TESTS_DIALECT_BODY_PARTS_H_

#include <optional>

#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"

namespace sluice::dialect {

inline std::optional<Usage> UsageOfBody(Dialect dialect, absl::string_view body, bool* complete) {
  const BodyView view = ReadBody(dialect, body);
  *complete = view.complete;
  return view.usage;
}

inline std::optional<UpstreamError> ErrorOfBody(absl::string_view body) {
  return ReadBody(Dialect::kNone, body).error;
}

}  // namespace sluice::dialect

#endif  // SLUICE_TESTS_DIALECT_BODY_PARTS_H_
