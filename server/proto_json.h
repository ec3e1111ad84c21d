#ifndef SLUICE_SERVER_PROTO_JSON_H_
#define SLUICE_SERVER_PROTO_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace sluice::server {

/// Whether the JSON is for programs and lines, or for people who open a file of it.
enum class JsonLayout { kOneLine, kIndented };

/// `message` as proto JSON with the field names of the .proto files; fields at their default are
/// left out.
std::string ToJson(const google::protobuf::Message& message, JsonLayout layout);

/// The reverse; also takes lowerCamelCase names. INVALID_ARGUMENT: what is wrong and where, an
/// unknown field too.
absl::Status FromJson(absl::string_view json, google::protobuf::Message* message);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_PROTO_JSON_H_
