#ifndef SLUICE_ADMIN_LEAK_READINGS_H_
#define SLUICE_ADMIN_LEAK_READINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// One thing that the server counts twice, as it was each time it was asked.
struct LeakReading {
  struct Count {
    int64_t booked = 0;
    int64_t counted = 0;
    int64_t difference() const { return booked - counted; }
  };

  std::string name;
  std::string source;  // how it was counted otherwise
  std::vector<Count> counts;

  /// Whether the counts differed each time, each time in the same direction. A busy server is read
  /// while it changes, so a difference that comes and goes means nothing.
  bool leaks() const;
  /// Whether they differed at all.
  bool differs() const;
};

/// What `checks`, one a time, say about each thing; first, whether the exchanges that were opened
/// are those that live and those that were closed.
std::vector<LeakReading> LeakReadings(absl::Span<const control::v1::CheckLeaksResponse> checks);

/// The readings as a table, with a verdict each. `times` names each time.
std::string LeakTable(absl::Span<const LeakReading> readings,
                      absl::Span<const absl::string_view> times);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_LEAK_READINGS_H_
