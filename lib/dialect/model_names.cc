#include "absl/strings/str_cat.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/json.h"

namespace sluice::dialect {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void String(Writer& writer, absl::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void Member(Writer& writer, const char* key, absl::string_view value) {
  writer.Key(key);
  String(writer, value);
}

void WriteModel(Writer& writer, bool anthropic, absl::string_view model, absl::Time created) {
  writer.StartObject();
  Member(writer, "id", model);
  if (anthropic) {
    Member(writer, "type", "model");
    Member(writer, "display_name", model);
    Member(writer, "created_at",
           absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", created, absl::UTCTimeZone()));
  } else {
    Member(writer, "object", "model");
    writer.Key("created");
    writer.Int64(absl::ToUnixSeconds(created));
    Member(writer, "owned_by", "sluice");
  }
  writer.EndObject();
}

}  // namespace

std::string RewriteModel(absl::string_view body, const RequestPeek& peek, absl::string_view model) {
  rapidjson::StringBuffer quoted;
  Writer writer(quoted);
  String(writer, model);
  return absl::StrCat(body.substr(0, peek.model_value.start),
                      absl::string_view(quoted.GetString(), quoted.GetSize()),
                      body.substr(peek.model_value.end));
}

std::string ModelsBody(bool anthropic, absl::Span<const std::string> models, absl::Time created) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  if (!anthropic) Member(writer, "object", "list");
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
        String(writer, ReplaceInvalidUtf8(key[0] == 'f' ? models.front() : models.back()));
      }
    }
  }
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace sluice::dialect
