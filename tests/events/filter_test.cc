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
  info->principal = "who";
  Event event;
  event.subject = std::make_shared<const Subject>(Subject{.exchange = info, .endpoint = endpoint});
  event.what = Chunk{};
  return event;
}

Event FinishedWith(Cause cause) {
  Event event = ChunkOf({1}, "m", "p", "e");
  auto finished = std::make_shared<Exchange>();
  finished->cause = cause;
  event.what = std::shared_ptr<const Exchange>(std::move(finished));
  return event;
}

/// A filter with one value in one list.
template <typename List, typename Value>
Filter With(List Filter::*list, Value value) {
  Filter filter;
  (filter.*list).push_back(value);
  return filter;
}

TEST(FilterTest, MatchesAnythingWhenEmpty) {
  EXPECT_TRUE(Filter{}.Matches(ChunkOf({1}, "m", "p", "e")));
  EXPECT_TRUE(Filter{}.Matches(Event{}));
  EXPECT_TRUE(MatchesAny({}, Event{}));
}

TEST(FilterTest, ComparesEachField) {
  const Event event = ChunkOf({1}, "m", "p", "e");
  EXPECT_TRUE(With(&Filter::kinds, Kind::kChunk).Matches(event));
  EXPECT_FALSE(With(&Filter::kinds, Kind::kUsage).Matches(event));
  EXPECT_TRUE(With(&Filter::models, "m").Matches(event));
  EXPECT_FALSE(With(&Filter::models, "x").Matches(event));
  EXPECT_TRUE(With(&Filter::pools, "p").Matches(event));
  EXPECT_FALSE(With(&Filter::pools, "x").Matches(event));
  EXPECT_TRUE(With(&Filter::endpoints, "e").Matches(event));
  EXPECT_FALSE(With(&Filter::endpoints, "x").Matches(event));
  EXPECT_TRUE(With(&Filter::exchanges, ExchangeId{1}).Matches(event));
  EXPECT_FALSE(With(&Filter::exchanges, ExchangeId{2}).Matches(event));
  EXPECT_TRUE(With(&Filter::principals, "who").Matches(event));
  EXPECT_FALSE(With(&Filter::principals, "x").Matches(event));
  EXPECT_FALSE(With(&Filter::causes, Cause::kCompleted).Matches(event));
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
  EXPECT_FALSE(With(&Filter::models, "").Matches(event));
  EXPECT_FALSE(With(&Filter::principals, "").Matches(event));
  EXPECT_FALSE(With(&Filter::exchanges, ExchangeId{0}).Matches(event));
  EXPECT_FALSE(With(&Filter::pools, "").Matches(event));
  EXPECT_FALSE(With(&Filter::endpoints, "").Matches(event));
}

TEST(FilterTest, ComparesThePlaceOfAChangeOfState) {
  const Event endpoint = EventOfGateway(
      absl::UnixEpoch(), EndpointStateChanged{.pool = "p", .endpoint = "pools/p/endpoints/a"});
  EXPECT_TRUE(With(&Filter::pools, "p").Matches(endpoint));
  EXPECT_FALSE(With(&Filter::pools, "x").Matches(endpoint));
  EXPECT_TRUE(With(&Filter::endpoints, "pools/p/endpoints/a").Matches(endpoint));
  EXPECT_FALSE(With(&Filter::endpoints, "pools/p/endpoints/b").Matches(endpoint));
  EXPECT_FALSE(With(&Filter::models, "").Matches(endpoint));
  EXPECT_FALSE(With(&Filter::principals, "").Matches(endpoint));

  const Event key = EventOfGateway(absl::UnixEpoch(), KeyStateChanged{.pool = "p", .key_id = "k"});
  EXPECT_TRUE(With(&Filter::pools, "p").Matches(key));
  EXPECT_FALSE(With(&Filter::pools, "x").Matches(key));
  EXPECT_FALSE(With(&Filter::endpoints, "").Matches(key)) << "a key has no endpoint";
}

}  // namespace
}  // namespace sluice::events
