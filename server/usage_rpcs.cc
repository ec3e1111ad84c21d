#include "server/usage_rpcs.h"

#include "absl/strings/str_cat.h"

#include "lib/base/display_text.h"
#include "server/proto_time.h"
#include "server/rpc_error.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using pb::GetUsageRequest;

constexpr size_t kMaxNameBytes = 256;

/// The member that stands for a dimension; null if there is none.
bool* MemberFor(int dimension, ledger::UsageGrouping* group_by) {
  switch (dimension) {
    case GetUsageRequest::DIMENSION_PRINCIPAL:
      return &group_by->principal;
    case GetUsageRequest::DIMENSION_MODEL:
      return &group_by->model;
    case GetUsageRequest::DIMENSION_POOL:
      return &group_by->pool;
    case GetUsageRequest::DIMENSION_ENDPOINT:
      return &group_by->endpoint;
    default:
      return nullptr;
  }
}

void ToProto(const ledger::UsageTotals::Row& row, pb::UsageTotal* total) {
  total->set_principal(DisplayText(row.names.principal, kMaxNameBytes));
  total->set_model(DisplayText(row.names.model, kMaxNameBytes));
  total->set_pool(std::string(row.names.pool));
  total->set_endpoint(std::string(row.names.endpoint));
  total->set_exchanges(row.sums.exchanges);
  total->set_completed(row.sums.completed);
  total->set_reported(row.sums.reported);
  total->set_partial(row.sums.partial);
  total->set_unknown(row.sums.unknown);
  total->set_prompt_tokens(row.sums.prompt_tokens);
  total->set_completion_tokens(row.sums.completion_tokens);
  total->set_total_tokens(row.sums.total_tokens);
  total->set_cached_tokens(row.sums.cached_tokens);
  total->set_reasoning_tokens(row.sums.reasoning_tokens);
}

}  // namespace

grpc::Status UsageRpcs::Get(const GetUsageRequest& request, pb::GetUsageResponse* response) const {
  ledger::UsageGrouping group_by;
  for (const int dimension : request.group_by()) {
    bool* const member = MemberFor(dimension, &group_by);
    if (member == nullptr) {
      return InvalidField("group_by", absl::StrCat(dimension, " is no dimension"));
    }
    *member = true;
  }
  const ledger::UsageTotals::Reading reading = totals_.Read(group_by);
  for (const ledger::UsageTotals::Row& row : reading.rows) ToProto(row, response->add_totals());
  *response->mutable_start_time() = server::ToProto(start_time_);
  response->set_folded(static_cast<int64_t>(reading.folded));
  return grpc::Status::OK;
}

}  // namespace sluice::server
