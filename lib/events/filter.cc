#include "lib/events/filter.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace sluice::events {
namespace {

template <typename Value>
bool Has(const std::vector<Value>& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::optional<Cause> CauseOf(const What& what) {
  if (const auto* failed = std::get_if<std::shared_ptr<const AttemptFailed>>(&what)) {
    return (*failed)->cause;
  }
  if (const auto* finished = std::get_if<std::shared_ptr<const ExchangeFinished>>(&what)) {
    return (*finished)->cause;
  }
  return std::nullopt;
}

}  // namespace

bool Filter::Matches(const Event& event) const {
  if (!kinds.empty() && !Has(kinds, event.kind())) return false;
  if (!causes.empty()) {
    const std::optional<Cause> cause = CauseOf(event.what);
    if (!cause || !Has(causes, *cause)) return false;
  }
  const Subject* subject = event.subject.get();
  if (subject == nullptr) {
    return models.empty() && pools.empty() && endpoints.empty() && exchanges.empty();
  }
  return (models.empty() || Has(models, subject->exchange->model)) &&
         (pools.empty() || Has(pools, subject->exchange->pool)) &&
         (endpoints.empty() || Has(endpoints, subject->endpoint)) &&
         (exchanges.empty() || Has(exchanges, subject->exchange->id));
}

bool MatchesAny(absl::Span<const Filter> filters, const Event& event) {
  return filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const Filter& filter) {
           return filter.Matches(event);
         });
}

}  // namespace sluice::events
