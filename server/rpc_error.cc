#include "server/rpc_error.h"

#include "absl/strings/str_cat.h"

#include "lib/base/display_text.h"
#include "sluice/control/v1/error.pb.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

// A status travels in trailers, and gRPC clients refuse more than 8 KiB of them by default.
constexpr size_t kMaxDetailBytes = 5 << 10;
constexpr size_t kMaxDescriptionBytes = 256;

grpc::Status WithDetail(grpc::StatusCode code, const std::string& message,
                        const pb::ErrorDetail& detail) {
  pb::StatusDetails details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(detail);
  return grpc::Status(code, message, details.SerializeAsString());
}

}  // namespace

grpc::Status RpcError(grpc::StatusCode code, const std::string& reason, const std::string& message,
                      const std::vector<std::pair<std::string, std::string>>& metadata) {
  pb::ErrorDetail detail;
  detail.set_reason(reason);
  detail.mutable_metadata()->insert(metadata.begin(), metadata.end());
  return WithDetail(code, message, detail);
}

grpc::Status InvalidRequest(const std::string& reason,
                            const std::vector<config::Violation>& violations) {
  pb::ErrorDetail detail;
  detail.set_reason(reason);
  (*detail.mutable_metadata())["violations"] = absl::StrCat(violations.size());
  for (const config::Violation& violation : violations) {
    pb::Violation* added = detail.add_violations();
    added->set_field_path(violation.path);
    added->set_description(DisplayText(violation.reason, kMaxDescriptionBytes));
    if (detail.ByteSizeLong() > kMaxDetailBytes) {
      detail.mutable_violations()->RemoveLast();
      break;
    }
  }
  const pb::Violation& first = detail.violations(0);
  return WithDetail(
      grpc::StatusCode::INVALID_ARGUMENT,
      absl::StrCat("the request is wrong in ", violations.size(),
                   " place(s); the first: ", first.field_path(), ": ", first.description()),
      detail);
}

grpc::Status InvalidField(const std::string& path, const std::string& description) {
  return InvalidRequest("FIELD_INVALID", {{path, description}});
}

}  // namespace sluice::server
