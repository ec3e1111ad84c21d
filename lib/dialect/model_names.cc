#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/json.h"
#include "lib/dialect/json_writer.h"

namespace sluice::dialect {
namespace {

void WriteModel(JsonWriter& writer, bool anthropic, absl::string_view model, absl::Time created) {
  writer.StartObject();
  WriteMember(writer, "id", model);
  if (anthropic) {
    WriteMember(writer, "type", "model");
    WriteMember(writer, "display_name", model);
    WriteMember(writer, "created_at",
                absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", created, absl::UTCTimeZone()));
  } else {
    WriteMember(writer, "object", "model");
    writer.Key("created");
    writer.Int64(absl::ToUnixSeconds(created));
    WriteMember(writer, "owned_by", "sluice");
  }
  writer.EndObject();
}

}  // namespace

std::string RewriteModel(absl::string_view body, const RequestPeek& peek, absl::string_view model) {
  rapidjson::StringBuffer quoted;
  JsonWriter writer(quoted);
  WriteString(writer, model);
  return absl::StrCat(body.substr(0, peek.model_value.start),
                      absl::string_view(quoted.GetString(), quoted.GetSize()),
                      body.substr(peek.model_value.end));
}

std::string ModelsBody(bool anthropic, absl::Span<const std::string> models, absl::Time created) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  if (!anthropic) WriteMember(writer, "object", "list");
  writer.Key("data");
  writer.StartArray();
  for (const std::string& model : models) {
    WriteModel(writer, anthropic, ReplaceInvalidUtf8(model), created);
  }
  writer.EndArray();
  if (anthropic) {
    writer.Key("has_more");
    writer.Bool(false);
    for (const char* key : {"first_id", "last_id"}) {
      writer.Key(key);
      if (models.empty()) {
        writer.Null();
      } else {
        WriteString(writer, ReplaceInvalidUtf8(key[0] == 'f' ? models.front() : models.back()));
      }
    }
  }
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace sluice::dialect
