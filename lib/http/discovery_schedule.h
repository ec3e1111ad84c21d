#ifndef SLUICE_LIB_HTTP_DISCOVERY_SCHEDULE_H_
#define SLUICE_LIB_HTTP_DISCOVERY_SCHEDULE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "lib/base/clock.h"

namespace sluice::http {

/// What one look-up of a name found.
struct FoundAddresses {
  std::vector<std::string> addresses;  // IPv4 and IPv6, in any order
  Duration time_to_live;
};

/// Which names to look up when, and what their answers change. Logs when a name begins to fail and
/// when it is found again. Thread-compatible.
class DiscoverySchedule {
 public:
  static constexpr Duration kShortestLife = std::chrono::seconds(1);
  static constexpr Duration kLongestLife = std::chrono::minutes(5);
  /// After the first failure in a row; doubles with each.
  static constexpr Duration kFirstRetry = std::chrono::seconds(1);
  static constexpr Duration kLongestRetry = std::chrono::seconds(30);

  /// New names are due at once; what is known of those that are gone is forgotten.
  void SetNames(const std::set<std::string>& names);

  /// The names whose look-up is to begin. None comes again before its OnAnswer.
  std::vector<std::string> TakeDue(Instant now);
  /// When TakeDue has something to give, unless an answer or SetNames comes first.
  Instant next_due() const;

  /// The sorted addresses of `name` if they are others than before. After a failure those before
  /// stand.
  std::optional<std::vector<std::string>> OnAnswer(const std::string& name,
                                                   absl::StatusOr<FoundAddresses> answer,
                                                   Instant now);

 private:
  struct Name {
    std::vector<std::string> addresses;  // sorted
    Instant due = Instant::min();        // kNever during a look-up
    int failures = 0;                    // in a row
  };

  std::map<std::string, Name> names_;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_DISCOVERY_SCHEDULE_H_
