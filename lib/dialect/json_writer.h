#ifndef SLUICE_LIB_DIALECT_JSON_WRITER_H_
#define SLUICE_LIB_DIALECT_JSON_WRITER_H_

#include "absl/strings/string_view.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

/// Private to lib/dialect: how the gateway's own JSON is written.
namespace sluice::dialect {

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

inline void WriteString(JsonWriter& writer, absl::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

inline void WriteMember(JsonWriter& writer, absl::string_view key, absl::string_view value) {
  writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  WriteString(writer, value);
}

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_JSON_WRITER_H_
