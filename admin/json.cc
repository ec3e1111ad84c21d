#include "admin/json.h"

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace sluice::admin {
namespace {

std::string Print(const google::protobuf::Message& message, bool people) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = people;
  options.always_print_primitive_fields = !people;
  std::string json;
  // Fails only on an Any of unknown type; no message here has one.
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  return json;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  return Print(message, /*people=*/false);
}

std::string JsonString(absl::string_view text) {
  google::protobuf::Value value;
  value.set_string_value(std::string(text));
  return ToJson(value);
}

std::string ToConfigFile(const control::v1::Config& config) {
  return Print(config, /*people=*/true);
}

absl::StatusOr<control::v1::Config> ParseConfigFile(absl::string_view json) {
  control::v1::Config config;
  const auto status =
      google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &config);
  if (!status.ok()) {
    const auto message = status.message();
    return absl::InvalidArgumentError(absl::string_view(message.data(), message.size()));
  }
  return config;
}

}  // namespace sluice::admin
