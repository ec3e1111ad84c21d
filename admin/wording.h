#ifndef SLUICE_ADMIN_WORDING_H_
#define SLUICE_ADMIN_WORDING_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "sluice/control/v1/endpoint.pb.h"
#include "sluice/control/v1/event.pb.h"
#include "sluice/control/v1/exchange_record.pb.h"

namespace sluice::admin {

// How values of the API are shown to people, everywhere alike. Nothing in it can steer a terminal.

/// "completed" of "CAUSE_COMPLETED" and the prefix "CAUSE_"; the number of a value whose name is
/// empty because this version does not know it.
std::string EnumText(absl::string_view name, absl::string_view prefix, int number);
std::string CauseText(control::v1::Cause cause);
std::string PhaseText(control::v1::Phase phase);
std::string StateText(control::v1::EndpointStatus::State state);

/// Every cause by the name it has everywhere: "connect_failed".
struct CauseName {
  std::string name;
  control::v1::Cause cause;
};
std::vector<CauseName> CauseNames();

/// "5/2/7": prompt, completion, total; then what else was reported.
std::string UsageText(const control::v1::Usage& usage);

/// "chat/a" of "pools/chat/endpoints/a"; anything else as a name.
std::string EndpointText(absl::string_view name);

/// The last 8 digits of an id, which a search in logs finds and `exchange get` takes.
std::string ShortIdText(absl::string_view exchange);

/// "0.4ms", "12ms", "1.23s", "3m12s", "5h02m", "2d03h": three figures are enough for people.
std::string DurationText(absl::Duration duration);

/// "14:03:07" of today or of any other day.
std::string ClockText(const google::protobuf::Timestamp& time, absl::TimeZone zone);

absl::Time ToTime(const google::protobuf::Timestamp& timestamp);
absl::Duration ToDuration(const google::protobuf::Duration& duration);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_WORDING_H_
