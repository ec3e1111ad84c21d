#include "admin/watch_request.h"

#include <string>
#include <utility>

#include "absl/status/status.h"

#include "admin/event_text.h"
#include "admin/flag_values.h"
#include "admin/wording.h"
#include "lib/base/status.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr int kMaxTail = 1'000'000;

absl::StatusOr<absl::Time> ParseSince(absl::string_view text, absl::Time now) {
  absl::Duration ago;
  if (absl::ParseDuration(text, &ago) && ago >= absl::ZeroDuration() &&
      ago <= now - absl::UnixEpoch()) {
    return now - ago;
  }
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error) && time >= absl::UnixEpoch() &&
      time < absl::InfiniteFuture()) {
    return time;
  }
  return WrongFlag("since", "neither a time like 2026-01-02T03:04:05Z nor how long ago, like 5m",
                   text);
}

absl::StatusOr<v1::EventFilter> MakeFilter(const Invocation& invocation) {
  v1::EventFilter filter;
  for (const std::string& model : FlagList(invocation, "model")) filter.add_models(model);
  for (const std::string& pool : FlagList(invocation, "pool")) filter.add_pools(pool);
  for (const std::string& endpoint : FlagList(invocation, "endpoint")) {
    filter.add_endpoints(EndpointName(endpoint));
  }
  for (const std::string& principal : FlagList(invocation, "principal")) {
    filter.add_principals(principal);
  }
  for (const std::string& exchange : FlagList(invocation, "exchange"))
    filter.add_exchanges(exchange);
  SLUICE_RETURN_IF_ERROR(ForEachFlagName(invocation, "kind", KindNames(),
                                         [&](const KindName& row) { filter.add_kinds(row.kind); }));
  SLUICE_RETURN_IF_ERROR(
      ForEachFlagName(invocation, "cause", CauseNames(),
                      [&](const CauseName& row) { filter.add_causes(row.cause); }));
  return filter;
}

}  // namespace

absl::StatusOr<v1::WatchEventsRequest> MakeWatchRequest(const Invocation& invocation,
                                                        absl::Time now) {
  v1::WatchEventsRequest request;
  request.set_follow(invocation.flag("no-follow").empty());

  SLUICE_ASSIGN_OR_RETURN(const int64_t tail, FlagNumber(invocation, "tail", kMaxTail));
  request.set_tail(static_cast<int32_t>(tail));
  if (const absl::string_view text = invocation.flag("since"); !text.empty()) {
    if (tail > 0) return WrongFlag("since", "cannot be used with --tail", text);
    SLUICE_ASSIGN_OR_RETURN(const absl::Time since, ParseSince(text, now));
    const int64_t nanos =
        absl::ToInt64Nanoseconds(since - absl::FromUnixSeconds(absl::ToUnixSeconds(since)));
    request.mutable_since()->set_seconds(absl::ToUnixSeconds(since));
    request.mutable_since()->set_nanos(static_cast<int32_t>(nanos));
  }

  SLUICE_ASSIGN_OR_RETURN(v1::EventFilter filter, MakeFilter(invocation));
  if (filter.ByteSizeLong() > 0) *request.add_filters() = std::move(filter);
  return request;
}

}  // namespace sluice::admin
