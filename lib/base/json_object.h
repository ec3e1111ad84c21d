#ifndef SLUICE_LIB_BASE_JSON_OBJECT_H_
#define SLUICE_LIB_BASE_JSON_OBJECT_H_

#include <string>

#include "absl/types/span.h"

#include "lib/base/log.h"

namespace sluice {

/// `{"name":"x","count":3}`, a JSON object (RFC 8259) on one line, with the fields in their order.
/// No control byte is left in it. It is JSON if all text is UTF-8; DisplayText makes it so.
std::string JsonObject(absl::Span<const LogField> fields);

/// The value alone, text with its quotes.
void AppendJsonValue(const LogField& field, std::string* out);

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_JSON_OBJECT_H_
