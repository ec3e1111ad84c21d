#ifndef SLUICE_ADMIN_EVENT_TEXT_H_
#define SLUICE_ADMIN_EVENT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "sluice/control/v1/event.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// One event as one line with its newline, in columns that line up as long as names are short:
///   time  exchange  kind  model  pool/endpoint  name=value...
/// `exchange` is the last 8 digits of the id, which a search in logs finds. Nothing in it can steer
/// a terminal. A later version of the server may send kinds this one does not know: shown as
/// "unknown".
std::string EventLine(const control::v1::Event& event, absl::TimeZone zone);

/// Lost events, as a line of the same stream.
std::string LostLine(const control::v1::Lost& lost);

/// "0.4ms", "12ms", "1.23s", "3m12s", "5h02m", "2d03h": three figures are enough for people.
std::string DurationText(absl::Duration duration);

absl::Time ToTime(const google::protobuf::Timestamp& timestamp);
absl::Duration ToDuration(const google::protobuf::Duration& duration);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_EVENT_TEXT_H_
