#ifndef SLUICE_ADMIN_EVENT_TEXT_H_
#define SLUICE_ADMIN_EVENT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "sluice/control/v1/event.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// One event as one line with its newline, in columns that line up as long as names are short:
///   time  exchange  kind  model  pool/endpoint  name=value...
/// `exchange` is the last 8 digits of the id, which a search in logs finds. Nothing in it can steer
/// a terminal. A later version of the server may send kinds this one does not know: shown as
/// "unknown".
std::string EventLine(const control::v1::Event& event, absl::TimeZone zone);

/// Every kind of event by the name it has in EventLine: "attempt_failed".
struct KindName {
  absl::string_view name;
  control::v1::EventKind kind;
};
absl::Span<const KindName> KindNames();

/// Lost events, as a line of the same stream.
std::string LostLine(const control::v1::Lost& lost);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_EVENT_TEXT_H_
