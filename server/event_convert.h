#ifndef SLUICE_SERVER_EVENT_CONVERT_H_
#define SLUICE_SERVER_EVENT_CONVERT_H_

#include <optional>

#include "absl/status/statusor.h"

#include "lib/events/event.h"
#include "lib/events/filter.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/state_changes.h"
#include "sluice/control/v1/endpoint.pb.h"
#include "sluice/control/v1/event.pb.h"

namespace sluice::server {

/// Fills an empty message. Text that came from a peer is made valid and short, so that an event is
/// at most a few KiB.
void ToProto(const events::Event& event, control::v1::Event* proto);

/// INVALID_ARGUMENT: a value names no kind, exchange or cause.
absl::StatusOr<events::Filter> FromProto(const control::v1::EventFilter& proto);

control::v1::Cause ToProto(Cause cause);
/// Nothing for CAUSE_UNSPECIFIED and for values that this version does not know.
std::optional<Cause> FromProto(control::v1::Cause cause);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_EVENT_CONVERT_H_
