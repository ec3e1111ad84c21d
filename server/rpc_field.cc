#include "server/rpc_field.h"

#include <chrono>

#include "absl/strings/str_cat.h"

#include "lib/base/display_text.h"
#include "server/proto_time.h"
#include "server/rpc_error.h"

namespace sluice::server {
namespace {

constexpr size_t kMaxReasonBytes = 256;
constexpr Duration kDefaultDrain = std::chrono::minutes(10);
constexpr Duration kLongestDrain = std::chrono::hours(24);

}  // namespace

grpc::Status CheckReason(absl::string_view reason) {
  if (reason.size() <= kMaxReasonBytes) return grpc::Status::OK;
  return InvalidField("reason",
                      absl::StrCat("has ", reason.size(), " bytes, of at most ", kMaxReasonBytes));
}

std::string WhoAndWhy(const Caller& caller, absl::string_view reason) {
  return reason.empty()
             ? absl::StrCat("by ", caller.name)
             : absl::StrCat("by ", caller.name, ": ", DisplayText(reason, kMaxReasonBytes));
}

grpc::Status DrainDeadline(Instant now, const google::protobuf::Duration* timeout,
                           Instant* deadline) {
  const Duration limit = timeout == nullptr ? kDefaultDrain : FromProto(*timeout);
  if (limit < Duration::zero() || limit > kLongestDrain) {
    return InvalidField("timeout", "must be from 0 to 24 h");
  }
  *deadline = now + limit;
  return grpc::Status::OK;
}

}  // namespace sluice::server
