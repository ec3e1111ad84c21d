#ifndef SLUICE_ADMIN_JSON_H_
#define SLUICE_ADMIN_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

#include "sluice/control/v1/config.pb.h"

namespace sluice::admin {

/// `message` as proto JSON on one line, with the field names of the .proto files. Zeros and empty
/// strings are shown, so that a program finds every field of what happened. No newline.
std::string ToJson(const google::protobuf::Message& message);

/// `text`, which is UTF-8, as a JSON string with its quotes.
std::string JsonString(absl::string_view text);

/// A configuration as the file `sluiced --config` reads and `config apply` takes: indented, set
/// fields only, ends with a newline.
std::string ToConfigFile(const control::v1::Config& config);
/// The reverse; also takes lowerCamelCase names. INVALID_ARGUMENT: what is wrong, e.g. an unknown
/// field.
absl::StatusOr<control::v1::Config> ParseConfigFile(absl::string_view json);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_JSON_H_
