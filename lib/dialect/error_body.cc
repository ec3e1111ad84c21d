#include "absl/strings/str_cat.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/json.h"

namespace sluice::dialect {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void Member(Writer& writer, absl::string_view key, absl::string_view value) {
  writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

}  // namespace

std::string ErrorBody(Dialect dialect, Cause cause, absl::string_view message) {
  const CauseInfo& info = InfoOf(cause);
  const bool anthropic = dialect == Dialect::kAnthropicMessages;
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  if (anthropic) Member(writer, "type", "error");
  writer.Key("error");
  writer.StartObject();
  if (anthropic) {
    Member(writer, "type", info.anthropic_type);
    Member(writer, "message", ReplaceInvalidUtf8(message));
  } else {
    Member(writer, "message", ReplaceInvalidUtf8(message));
    Member(writer, "type", info.openai_type);
    writer.Key("param");
    writer.Null();
    Member(writer, "code", info.label);
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
