#include "server/control_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "lib/config/secrets.h"
#include "lib/config/validate.h"
#include "server/config_convert.h"
#include "server/display_text.h"
#include "sluice/control/v1/error.pb.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using config::Violation;

// A status travels in trailers, and gRPC clients refuse more than 8 KiB of them by default.
constexpr size_t kMaxDetailBytes = 5 << 10;
constexpr size_t kMaxDescriptionBytes = 256;

/// A status with an ErrorDetail in its details.
grpc::Status Error(grpc::StatusCode code, const std::string& message,
                   const pb::ErrorDetail& detail) {
  pb::StatusDetails details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(detail);
  return grpc::Status(code, message, details.SerializeAsString());
}

/// INVALID_ARGUMENT with the violations, as many as fit.
grpc::Status InvalidError(const std::string& reason, const std::vector<Violation>& violations) {
  pb::ErrorDetail detail;
  detail.set_reason(reason);
  (*detail.mutable_metadata())["violations"] = absl::StrCat(violations.size());
  for (const Violation& violation : violations) {
    pb::Violation* added = detail.add_violations();
    added->set_field_path(violation.path);
    added->set_description(DisplayText(violation.reason, kMaxDescriptionBytes));
    if (detail.ByteSizeLong() > kMaxDetailBytes) {
      detail.mutable_violations()->RemoveLast();
      break;
    }
  }
  const pb::Violation& first = detail.violations(0);
  return Error(grpc::StatusCode::INVALID_ARGUMENT,
               absl::StrCat("the request is wrong in ", violations.size(), " place(s); the first: ",
                            first.field_path(), ": ", first.description()),
               detail);
}

grpc::Status EtagMismatch(const std::string& current_etag) {
  pb::ErrorDetail detail;
  detail.set_reason("ETAG_MISMATCH");
  (*detail.mutable_metadata())["current_etag"] = current_etag;
  return Error(grpc::StatusCode::ABORTED,
               absl::StrCat("the configuration has changed since it was read: its etag is now ",
                            current_etag, "; read it with GetConfig and try again"),
               detail);
}

grpc::Status EtagMissing() {
  pb::ErrorDetail detail;
  detail.set_reason("ETAG_MISSING");
  return Error(grpc::StatusCode::INVALID_ARGUMENT,
               "config.etag is required: read the configuration with GetConfig first, and send the "
               "etag it came with",
               detail);
}

/// The paths of the fields to replace. An absent mask means the fields that are populated.
std::vector<std::string> MaskOf(const pb::UpdateConfigRequest& request) {
  if (request.has_update_mask()) {
    return {request.update_mask().paths().begin(), request.update_mask().paths().end()};
  }
  std::vector<std::string> paths;
  if (request.config().pools_size() > 0) paths.push_back("pools");
  if (request.config().routes_size() > 0) paths.push_back("routes");
  if (request.config().has_limits()) paths.push_back("limits");
  return paths;
}

/// Replaces in `config` the fields that `mask` names by those of `wanted`.
void Merge(config::Config wanted, const std::vector<std::string>& mask, config::Config* config,
           std::vector<Violation>* violations) {
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == "*") {
      *config = wanted;
    } else if (mask[i] == "pools") {
      config->pools = wanted.pools;
    } else if (mask[i] == "routes") {
      config->routes = wanted.routes;
    } else if (mask[i] == "limits") {
      config->limits = wanted.limits;
    } else {
      violations->push_back(
          {absl::StrCat("update_mask.paths[", i, "]"),
           absl::StrCat("\"", mask[i], "\" is none of pools, routes, limits, *")});
    }
  }
}

}  // namespace

grpc::ServerUnaryReactor* ControlService::GetConfig(grpc::CallbackServerContext* context,
                                                    const pb::GetConfigRequest*,
                                                    pb::Config* response) {
  *response = ToProto(*store_.Current());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* ControlService::UpdateConfig(grpc::CallbackServerContext* context,
                                                       const pb::UpdateConfigRequest* request,
                                                       pb::Config* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(Update(*request, response));
  return reactor;
}

grpc::Status ControlService::Update(const pb::UpdateConfigRequest& request, pb::Config* response) {
  const std::string& etag = request.config().etag();
  if (etag.empty()) return EtagMissing();
  const auto current = store_.Current();
  if (etag != current->etag()) return EtagMismatch(current->etag());

  std::vector<Violation> violations;
  config::Config wanted = FromProto(request.config(), &violations);
  config::Config merged = current->config();
  std::vector<Violation> mask_violations;
  Merge(std::move(wanted), MaskOf(request), &merged, &mask_violations);
  if (!mask_violations.empty()) {
    return InvalidError("FIELD_MASK_INVALID", mask_violations);
  }
  if (!request.config().name().empty() && request.config().name() != "config") {
    violations.push_back({"name", "must be \"config\" or empty"});
  }
  for (Violation& found : Validate(merged)) violations.push_back(std::move(found));
  if (violations.empty()) {
    config::Secrets ignored;
    violations = ReadSecrets(merged, &ignored);
  }
  if (!violations.empty()) {
    return InvalidError("CONFIG_INVALID", violations);
  }

  if (request.validate_only()) {
    *response = ToProto(merged);
    return grpc::Status::OK;
  }
  const auto updated = store_.Update(std::move(merged), etag);
  // Valid as it is, it can only be that another change came first, or that a key went away just
  // now.
  if (absl::IsInvalidArgument(updated.status())) {
    return InvalidError("CONFIG_INVALID", {{"pools", std::string(updated.status().message())}});
  }
  if (!updated.ok()) return EtagMismatch(store_.Current()->etag());
  *response = ToProto(**updated);
  return grpc::Status::OK;
}

}  // namespace sluice::server
