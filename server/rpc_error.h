#ifndef SLUICE_SERVER_RPC_ERROR_H_
#define SLUICE_SERVER_RPC_ERROR_H_

#include <string>
#include <utility>
#include <vector>

#include "grpcpp/support/status.h"

#include "lib/config/validate.h"

namespace sluice::server {

/// A status with an ErrorDetail: `reason` and `metadata` are for programs, `message` is for people.
grpc::Status RpcError(grpc::StatusCode code, const std::string& reason, const std::string& message,
                      const std::vector<std::pair<std::string, std::string>>& metadata = {});

/// INVALID_ARGUMENT with at least one violation, and as many as a client takes.
grpc::Status InvalidRequest(const std::string& reason,
                            const std::vector<config::Violation>& violations);

/// INVALID_ARGUMENT, `FIELD_INVALID`: one field of a request, e.g. `page_size`, is wrong.
grpc::Status InvalidField(const std::string& path, const std::string& description);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_RPC_ERROR_H_
