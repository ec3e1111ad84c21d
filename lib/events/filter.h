#ifndef SLUICE_LIB_EVENTS_FILTER_H_
#define SLUICE_LIB_EVENTS_FILTER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

#include "lib/base/ids.h"
#include "lib/events/event.h"
#include "lib/exchange/cause.h"

namespace sluice::events {

/// Selects events: each list that is not empty must have a value equal to the event's. What is no
/// event of an exchange has no model, principal or exchange, and a pool or endpoint only if it
/// tells of one; only failed attempts and finished exchanges have a cause.
struct Filter {
  std::vector<Kind> kinds;
  std::vector<std::string> models;
  std::vector<std::string> pools;
  std::vector<std::string> endpoints;
  std::vector<ExchangeId> exchanges;
  std::vector<Cause> causes;
  std::vector<std::string> principals;

  bool Matches(const Event& event) const;
};

/// Whether any filter matches; true when there are none.
bool MatchesAny(absl::Span<const Filter> filters, const Event& event);

}  // namespace sluice::events

#endif  // SLUICE_LIB_EVENTS_FILTER_H_
