#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/json.h"
#include "lib/dialect/json_writer.h"

namespace sluice::dialect {
std::string ErrorBody(Dialect dialect, Cause cause, absl::string_view message) {
  const CauseInfo& info = InfoOf(cause);
  const bool anthropic = dialect == Dialect::kAnthropicMessages;
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  if (anthropic) WriteMember(writer, "type", "error");
  writer.Key("error");
  writer.StartObject();
  if (anthropic) {
    WriteMember(writer, "type", info.anthropic_type);
    WriteMember(writer, "message", ReplaceInvalidUtf8(message));
  } else {
    WriteMember(writer, "message", ReplaceInvalidUtf8(message));
    WriteMember(writer, "type", info.openai_type);
    writer.Key("param");
    writer.Null();
    WriteMember(writer, "code", info.label);
  }
  writer.EndObject();
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string ErrorEvent(Dialect dialect, Cause cause, absl::string_view message) {
  const absl::string_view name = dialect == Dialect::kAnthropicMessages ? "event: error\n" : "";
  return absl::StrCat(name, "data: ", ErrorBody(dialect, cause, message), "\n\n");
}

}  // namespace sluice::dialect
