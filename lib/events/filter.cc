#include "lib/events/filter.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace sluice::events {
namespace {

std::optional<Cause> CauseOf(const What& what) {
  if (const auto* failed = std::get_if<std::shared_ptr<const AttemptFailed>>(&what)) {
    return (*failed)->cause;
  }
  if (const auto* finished = std::get_if<std::shared_ptr<const Exchange>>(&what)) {
    return (*finished)->cause;
  }
  return std::nullopt;
}

/// Where something happened; null: nowhere.
struct Place {
  const std::string* pool = nullptr;
  const std::string* endpoint = nullptr;
};

Place PlaceOf(const Event& event) {
  if (const Subject* subject = event.subject.get()) {
    return {&subject->exchange->pool, &subject->endpoint};
  }
  if (const auto* endpoint =
          std::get_if<std::shared_ptr<const EndpointStateChanged>>(&event.what)) {
    return {&(*endpoint)->pool, &(*endpoint)->endpoint};
  }
  if (const auto* key = std::get_if<std::shared_ptr<const KeyStateChanged>>(&event.what)) {
    return {&(*key)->pool, nullptr};
  }
  return {};
}

template <typename Value>
bool Allows(const std::vector<Value>& list, const Value* value) {
  return list.empty() ||
         (value != nullptr && std::find(list.begin(), list.end(), *value) != list.end());
}

}  // namespace

bool Filter::Matches(const Event& event) const {
  const Kind kind = event.kind();
  const std::optional<Cause> cause = CauseOf(event.what);
  const Place place = PlaceOf(event);
  const ExchangeInfo* exchange = event.subject ? event.subject->exchange.get() : nullptr;
  return Allows(kinds, &kind) && Allows(causes, cause ? &*cause : nullptr) &&
         Allows(pools, place.pool) && Allows(endpoints, place.endpoint) &&
         Allows(models, exchange ? &exchange->model : nullptr) &&
         Allows(principals, exchange ? &exchange->principal : nullptr) &&
         Allows(exchanges, exchange ? &exchange->id : nullptr);
}

bool MatchesAny(absl::Span<const Filter> filters, const Event& event) {
  return filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const Filter& filter) {
           return filter.Matches(event);
         });
}

}  // namespace sluice::events
