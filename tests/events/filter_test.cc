#include "lib/events/filter.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace sluice::events {
namespace {

Event ChunkOf(ExchangeId id, const std::string& model, const std::string& pool,
              const std::string& endpoint) {
  auto info = std::make_shared<ExchangeInfo>();
  info->id = id;
  info->model = model;
  info->pool = pool;
  Event event;
  event.subject = std::make_shared<const Subject>(Subject{.exchange = info, .endpoint = endpoint});
  event.what = Chunk{};
  return event;
}

Event FinishedWith(Cause cause) {
  Event event = ChunkOf({1}, "m", "p", "e");
  event.what = std::make_shared<const ExchangeFinished>(ExchangeFinished{.cause = cause});
  return event;
}

TEST(FilterTest, MatchesAnythingWhenEmpty) {
  EXPECT_TRUE(Filter{}.Matches(ChunkOf({1}, "m", "p", "e")));
  EXPECT_TRUE(Filter{}.Matches(Event{}));
  EXPECT_TRUE(MatchesAny({}, Event{}));
}

TEST(FilterTest, ComparesEachField) {
  const Event event = ChunkOf({1}, "m", "p", "e");
  const auto with = [](auto Filter::*field, auto value) {
    Filter filter;
    (filter.*field).push_back(value);
    return filter;
  };
  EXPECT_TRUE(with(&Filter::kinds, Kind::kChunk).Matches(event));
  EXPECT_FALSE(with(&Filter::kinds, Kind::kUsage).Matches(event));
  EXPECT_TRUE(with(&Filter::models, "m").Matches(event));
  EXPECT_FALSE(with(&Filter::models, "x").Matches(event));
  EXPECT_TRUE(with(&Filter::pools, "p").Matches(event));
  EXPECT_FALSE(with(&Filter::pools, "x").Matches(event));
  EXPECT_TRUE(with(&Filter::endpoints, "e").Matches(event));
  EXPECT_FALSE(with(&Filter::endpoints, "x").Matches(event));
  EXPECT_TRUE(with(&Filter::exchanges, ExchangeId{1}).Matches(event));
  EXPECT_FALSE(with(&Filter::exchanges, ExchangeId{2}).Matches(event));
  EXPECT_FALSE(with(&Filter::causes, Cause::kCompleted).Matches(event));
}

TEST(FilterTest, ComparesTheCauseOfFailuresAndEnds) {
  Filter filter;
  filter.causes = {Cause::kClientGone, Cause::kIdleTimeout};
  EXPECT_TRUE(filter.Matches(FinishedWith(Cause::kIdleTimeout)));
  EXPECT_FALSE(filter.Matches(FinishedWith(Cause::kCompleted)));
  Event failed = ChunkOf({1}, "m", "p", "e");
  failed.what = std::make_shared<const AttemptFailed>(AttemptFailed{.cause = Cause::kClientGone});
  EXPECT_TRUE(filter.Matches(failed));
}

TEST(FilterTest, RequiresAllFieldsOfOneFilter) {
  Filter filter;
  filter.models = {"m"};
  filter.pools = {"x"};
  EXPECT_FALSE(filter.Matches(ChunkOf({1}, "m", "p", "e")));
}

TEST(FilterTest, RequiresOneOfSeveralFilters) {
  std::vector<Filter> filters(2);
  filters[0].models = {"x"};
  filters[1].models = {"m"};
  EXPECT_TRUE(MatchesAny(filters, ChunkOf({1}, "m", "p", "e")));
  filters[1].models = {"y"};
  EXPECT_FALSE(MatchesAny(filters, ChunkOf({1}, "m", "p", "e")));
}

TEST(FilterTest, MatchesAnEventWithoutExchangeByItsKindOnly) {
  Event event;
  event.what = std::make_shared<const ConfigChanged>();
  Filter filter;
  filter.kinds = {Kind::kConfigChanged};
  EXPECT_TRUE(filter.Matches(event));
  filter.models = {""};
  EXPECT_FALSE(filter.Matches(event));
}

}  // namespace
}  // namespace sluice::events
