#ifndef SLUICE_SERVER_CONFIG_EDIT_H_
#define SLUICE_SERVER_CONFIG_EDIT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/field_mask.pb.h"
#include "grpcpp/support/status.h"

#include "lib/config/config.h"
#include "lib/config/validate.h"
#include "sluice/control/v1/config.pb.h"

namespace sluice::server {

// How the calls of the API change a configuration. What comes of it is not validated here.

/// A whole configuration from a request. Adds to `violations` what is wrong with it as a message;
/// Validate finds the rest.
config::Config ParseWhole(const control::v1::Config& proto,
                          std::vector<config::Violation>* violations);

/// Replaces in `config` the fields that `mask` names by those of `proto`; without a mask (null),
/// those that `proto` populates. Adds to `violations` as ParseWhole. INVALID_ARGUMENT: the mask
/// names no such field.
grpc::Status ReplaceFields(const control::v1::Config& proto,
                           const google::protobuf::FieldMask* mask, config::Config* config,
                           std::vector<config::Violation>* violations);

/// `pools/{pool}/endpoints/{endpoint}`, fit to show.
std::string EndpointName(absl::string_view pool, absl::string_view endpoint);

/// NOT_FOUND: there is no such pool; ALREADY_EXISTS: it has an endpoint of that id.
grpc::Status AddEndpoint(const std::string& pool, config::Endpoint endpoint,
                         config::Config* config);
/// NOT_FOUND: there is no endpoint of that id.
grpc::Status UpdateEndpoint(const std::string& pool, config::Endpoint endpoint,
                            config::Config* config);
/// `name` is `pools/{pool}/endpoints/{endpoint}`. NOT_FOUND: it names no endpoint.
grpc::Status RemoveEndpoint(absl::string_view name, config::Config* config);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONFIG_EDIT_H_
