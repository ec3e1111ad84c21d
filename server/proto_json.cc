#include "server/proto_json.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

namespace sluice::server {

namespace util = ::google::protobuf::util;

std::string ToJson(const google::protobuf::Message& message, JsonLayout layout) {
  util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = layout == JsonLayout::kIndented;
  std::string json;
  // Fails only on an Any of unknown type; no message here has one.
  (void)util::MessageToJsonString(message, &json, options);
  return json;
}

absl::Status FromJson(absl::string_view json, google::protobuf::Message* message) {
  const util::Status parsed =
      util::JsonStringToMessage(google::protobuf::StringPiece(json.data(), json.size()), message);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("is not the JSON of a ", message->GetTypeName(), ": ",
                   absl::string_view(parsed.message().data(), parsed.message().size())));
}

}  // namespace sluice::server
