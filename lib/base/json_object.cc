#include "lib/base/json_object.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sluice {
namespace {

void AppendString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(static_cast<char>(c));
    } else if (c < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(out, "\\u%04x", c);
    } else {
      out->push_back(static_cast<char>(c));
    }
  }
  out->push_back('"');
}

}  // namespace

void AppendJsonValue(const LogField& field, std::string* out) {
  if (const auto* text = std::get_if<absl::string_view>(&field.value)) {
    AppendString(*text, out);
  } else if (const auto* flag = std::get_if<bool>(&field.value)) {
    absl::StrAppend(out, *flag ? "true" : "false");
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    absl::StrAppend(out, *real);
  } else {
    absl::StrAppend(out, std::get<int64_t>(field.value));
  }
}

std::string JsonObject(absl::Span<const LogField> fields) {
  std::string object = "{";
  for (const LogField& field : fields) {
    if (object.size() > 1) object.push_back(',');
    AppendString(field.name, &object);
    object.push_back(':');
    AppendJsonValue(field, &object);
  }
  object.push_back('}');
  return object;
}

}  // namespace sluice
