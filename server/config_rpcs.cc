#include "server/config_rpcs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "lib/base/display_text.h"
#include "server/config_convert.h"
#include "server/config_diff.h"
#include "server/config_edit.h"
#include "server/pool_convert.h"
#include "server/proto_time.h"
#include "server/rpc_error.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using config::Violation;

// Each failed try means that another writer went ahead; that many do not by chance.
constexpr int kMaxTries = 100;
constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1000;
constexpr size_t kMaxNameBytes = 160;

/// Adds all that keeps `config` from being applied to `store`.
void AddViolations(const config::Store& store, const config::Config& config,
                   std::vector<Violation>* violations) {
  for (Violation& found : store.Check(config)) violations->push_back(std::move(found));
}

template <typename Request>
const google::protobuf::FieldMask* MaskOf(const Request& request) {
  return request.has_update_mask() ? &request.update_mask() : nullptr;
}

/// Sets `config`, which holds the configuration in force of `store`, to what it would be after an
/// update.
grpc::Status Preview(const config::Store& store, const pb::Config& proto,
                     const google::protobuf::FieldMask* mask, config::Config* config) {
  std::vector<Violation> violations;
  if (grpc::Status status = ReplaceFields(proto, mask, config, &violations); !status.ok()) {
    return status;
  }
  AddViolations(store, *config, &violations);
  return violations.empty() ? grpc::Status::OK : InvalidRequest("CONFIG_INVALID", violations);
}

grpc::Status EtagMissing(const std::string& field) {
  return RpcError(grpc::StatusCode::INVALID_ARGUMENT, "ETAG_MISSING",
                  absl::StrCat(field,
                               " is required: read the configuration with GetConfig first, "
                               "and send the etag it came with"));
}

}  // namespace

grpc::Status ConfigRpcs::Get(const pb::GetConfigRequest& request, pb::Config* response) const {
  const std::shared_ptr<const config::Snapshot> current = store_.Current();
  const auto generation = static_cast<uint64_t>(request.generation());
  if (!request.has_generation() || generation == current->generation()) {
    *response = ToProto(current->version());
    return grpc::Status::OK;
  }
  const std::shared_ptr<const config::Version> version = store_.FindVersion(generation);
  if (version == nullptr) return VersionNotFound(request.generation());
  *response = ToProto(*version);
  return grpc::Status::OK;
}

grpc::Status ConfigRpcs::Validate(const pb::ValidateConfigRequest& request,
                                  pb::ValidateConfigResponse* response) const {
  std::vector<Violation> violations;
  const config::Config config = ParseWhole(request.config(), &violations);
  AddViolations(store_, config, &violations);
  for (const Violation& violation : violations) {
    pb::Violation* added = response->add_violations();
    added->set_field_path(violation.path);
    added->set_description(violation.reason);
  }
  return grpc::Status::OK;
}

grpc::Status ConfigRpcs::Plan(const pb::PlanConfigRequest& request,
                              pb::PlanConfigResponse* response) const {
  const std::shared_ptr<const config::Snapshot> current = store_.Current();
  config::Config planned = current->config();
  if (grpc::Status status = Preview(store_, request.config(), MaskOf(request), &planned);
      !status.ok())
    return status;
  response->set_etag(current->etag());
  response->set_generation(static_cast<int64_t>(current->generation()));
  for (pb::ConfigChange& change : DiffConfigs(ToProto(current->config()), ToProto(planned))) {
    *response->add_changes() = std::move(change);
  }
  for (const auto& [generation, exchanges] : data_plane_.in_flight_by_generation()) {
    pb::ConfigHolders* holders = response->add_holders();
    holders->set_generation(static_cast<int64_t>(generation));
    holders->set_exchanges(exchanges);
  }
  return grpc::Status::OK;
}

// A page token is the generation of the last version on the page before.
grpc::Status ConfigRpcs::ListVersions(const pb::ListConfigVersionsRequest& request,
                                      pb::ListConfigVersionsResponse* response) const {
  if (request.page_size() < 0 || request.page_size() > kLargestPage) {
    return InvalidField("page_size", absl::StrCat("must be from 0 to ", kLargestPage));
  }
  std::vector<std::shared_ptr<const config::Version>> versions = store_.Versions();
  if (!request.page_token().empty()) {
    uint64_t last = 0;
    if (!absl::SimpleAtoi(request.page_token(), &last)) {
      return InvalidField("page_token", "is none that ListConfigVersions gave");
    }
    std::erase_if(versions, [&](const auto& version) { return version->generation >= last; });
  }
  const size_t page = request.page_size() == 0 ? kDefaultPage : request.page_size();
  if (versions.size() > page) {
    versions.resize(page);
    response->set_next_page_token(absl::StrCat(versions.back()->generation));
  }
  const auto holders = data_plane_.in_flight_by_generation();
  for (const auto& version : versions) {
    pb::ConfigVersion* added = response->add_versions();
    added->set_generation(static_cast<int64_t>(version->generation));
    added->set_etag(version->etag);
    *added->mutable_create_time() = ToProto(version->time);
    added->set_author(version->by.author);
    added->set_origin(version->by.origin);
    const auto found = holders.find(version->generation);
    added->set_exchanges(found == holders.end() ? 0 : found->second);
  }
  return grpc::Status::OK;
}

grpc::Status ConfigRpcs::Update(const Caller& caller, const pb::UpdateConfigRequest& request,
                                pb::Config* response) {
  const std::string& etag = request.config().etag();
  if (etag.empty()) return EtagMissing("config.etag");
  if (request.validate_only()) {
    const std::shared_ptr<const config::Snapshot> current = store_.Current();
    if (etag != current->etag()) return EtagMismatch();
    config::Config wanted = current->config();
    if (grpc::Status status = Preview(store_, request.config(), MaskOf(request), &wanted);
        !status.ok())
      return status;
    *response = ToProto(wanted);
    return grpc::Status::OK;
  }
  return Change(
      caller, "update config", etag,
      [&](config::Config* config, std::vector<Violation>* violations) {
        return ReplaceFields(request.config(), MaskOf(request), config, violations);
      },
      response);
}

grpc::Status ConfigRpcs::Rollback(const Caller& caller, const pb::RollbackConfigRequest& request,
                                  pb::Config* response) {
  if (request.etag().empty()) return EtagMissing("etag");
  return Change(
      caller, absl::StrCat("rollback to generation ", request.generation()), request.etag(),
      [&](config::Config* config, std::vector<Violation>*) {
        const auto version = store_.FindVersion(static_cast<uint64_t>(request.generation()));
        if (version == nullptr) return VersionNotFound(request.generation());
        *config = version->config;
        return grpc::Status::OK;
      },
      response);
}

grpc::Status ConfigRpcs::AddEndpoint(const Caller& caller, const pb::AddEndpointRequest& request,
                                     pb::Config* response) {
  return Change(
      caller, absl::StrCat("add endpoint ", EndpointName(request.pool(), request.endpoint().id())),
      request.etag(),
      [&](config::Config* config, std::vector<Violation>*) {
        return server::AddEndpoint(request.pool(), FromProto(request.endpoint()), config);
      },
      response);
}

grpc::Status ConfigRpcs::UpdateEndpoint(const Caller& caller,
                                        const pb::UpdateEndpointRequest& request,
                                        pb::Config* response) {
  return Change(
      caller,
      absl::StrCat("update endpoint ", EndpointName(request.pool(), request.endpoint().id())),
      request.etag(),
      [&](config::Config* config, std::vector<Violation>*) {
        return server::UpdateEndpoint(request.pool(), FromProto(request.endpoint()), config);
      },
      response);
}

grpc::Status ConfigRpcs::RemoveEndpoint(const Caller& caller,
                                        const pb::RemoveEndpointRequest& request,
                                        pb::Config* response) {
  return Change(
      caller, absl::StrCat("remove endpoint ", DisplayText(request.name(), kMaxNameBytes)),
      request.etag(),
      [&](config::Config* config, std::vector<Violation>*) {
        return server::RemoveEndpoint(request.name(), config);
      },
      response);
}

grpc::Status ConfigRpcs::Change(const Caller& caller, const std::string& what,
                                const std::string& etag, Edit edit, pb::Config* response) {
  const grpc::Status status = TryChange(caller, what, etag, edit, response);
  if (status.ok()) {
    audit_.Write(caller, what, {{"outcome", "OK"}, {"generation", response->generation()}});
  } else {
    const auto code = static_cast<absl::StatusCode>(status.error_code());
    audit_.Write(caller, what,
                 {{"outcome", absl::StatusCodeToString(code)}, {"error", status.error_message()}});
  }
  return status;
}

grpc::Status ConfigRpcs::TryChange(const Caller& caller, const std::string& what,
                                   const std::string& etag, Edit edit, pb::Config* response) {
  for (int tries = 1;; ++tries) {
    const std::shared_ptr<const config::Snapshot> current = store_.Current();
    if (!etag.empty() && etag != current->etag()) return EtagMismatch();
    config::Config wanted = current->config();
    std::vector<Violation> violations;
    if (grpc::Status status = edit(&wanted, &violations); !status.ok()) return status;
    if (!violations.empty()) {
      AddViolations(store_, wanted, &violations);
      return InvalidRequest("CONFIG_INVALID", violations);
    }
    const auto updated = store_.Update(std::move(wanted), current->etag(),
                                       {.author = caller.name, .origin = what}, &violations);
    if (updated.ok()) {
      *response = ToProto((*updated)->version());
      return grpc::Status::OK;
    }
    if (absl::IsInvalidArgument(updated.status())) {
      return InvalidRequest("CONFIG_INVALID", violations);
    }
    if (absl::IsUnavailable(updated.status())) {
      return RpcError(grpc::StatusCode::UNAVAILABLE, "CONFIG_NOT_STORED",
                      std::string(updated.status().message()));
    }
    if (!etag.empty() || tries == kMaxTries) return EtagMismatch();
  }
}

grpc::Status ConfigRpcs::EtagMismatch() const {
  const std::string current = store_.Current()->etag();
  return RpcError(grpc::StatusCode::ABORTED, "ETAG_MISMATCH",
                  absl::StrCat("the configuration has changed since it was read: its etag is now ",
                               current, "; read it with GetConfig and try again"),
                  {{"current_etag", current}});
}

grpc::Status ConfigRpcs::VersionNotFound(int64_t generation) const {
  const auto versions = store_.Versions();
  return RpcError(grpc::StatusCode::NOT_FOUND, "VERSION_NOT_FOUND",
                  versions.empty()
                      ? "no configuration has been applied yet"
                      : absl::StrCat("generation ", generation, " is not kept; those from ",
                                     versions.back()->generation, " to ",
                                     versions.front()->generation, " are"));
}

}  // namespace sluice::server
