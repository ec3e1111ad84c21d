#ifndef SLUICE_SERVER_RPC_FIELD_H_
#define SLUICE_SERVER_RPC_FIELD_H_

#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/duration.pb.h"
#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "server/caller.h"

namespace sluice::server {

// Fields that several requests have. INVALID_ARGUMENT: the value is not what the proto allows.

grpc::Status CheckReason(absl::string_view reason);
/// "by NAME: REASON", for the records of what an operator ended.
std::string WhoAndWhy(const Caller& caller, absl::string_view reason);

/// When a drain that begins `now` and may take `timeout` ends; null means the default.
grpc::Status DrainDeadline(Instant now, const google::protobuf::Duration* timeout,
                           Instant* deadline);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_RPC_FIELD_H_
