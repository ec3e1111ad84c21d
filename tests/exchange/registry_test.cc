#include "lib/exchange/registry.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/exchange/gap_histogram.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using CancelResult = ExchangeRegistry::CancelResult;

/// An exchange as the relay makes one, and its end.
class FakeExchange {
 public:
  FakeExchange(ExchangeRegistry& registry, uint64_t id, uint64_t generation = 1)
      : registry_(registry) {
    auto info = std::make_shared<ExchangeInfo>();
    info->id = {id};
    info->config_generation = generation;
    record_->subject = std::make_shared<const Subject>(Subject{.exchange = std::move(info)});
    registry_.Enter(record_, cancellation_);
  }
  ~FakeExchange() {
    if (!record_->cause) Finish(Cause::kCompleted);
  }

  void BeginAttempt(const std::string& endpoint) {
    const int index = static_cast<int>(record_->attempts.size());
    record_->attempts.emplace_back();
    record_->attempts.back().index = index;
    record_->attempts.back().endpoint = endpoint;
    record_->subject = std::make_shared<const Subject>(Subject{
        .exchange = record_->subject->exchange, .endpoint = endpoint, .attempt = index + 1});
    registry_.OnAttempt(*record_, record_->attempts.back());
  }
  void FailAttempt(Cause cause) {
    Attempt& attempt = record_->attempts.back();
    attempt.failure = cause;
    attempt.ended = Instant();
    registry_.OnAttemptFailed(*record_, attempt);
  }
  void PassFrame(absl::string_view data, bool first = false) {
    FrameInfo frame;
    frame.index = record_->frames++;
    frame.data = data;
    frame.first_valid = first;
    frame.at = Instant() + std::chrono::seconds(7);
    registry_.OnFrame(*record_, frame);
  }
  void Finish(Cause cause) {
    record_->cause = cause;
    registry_.OnFinished(*record_);
  }

  ExchangeId id() const { return record_->info().id; }
  Exchange& record() { return *record_; }
  Cancellation& cancellation() { return cancellation_; }

 private:
  ExchangeRegistry& registry_;
  Cancellation cancellation_;
  const std::shared_ptr<Exchange> record_ = std::make_shared<Exchange>();
};

std::vector<uint64_t> IdsOf(const std::vector<ExchangeView>& views) {
  std::vector<uint64_t> ids;
  for (const ExchangeView& view : views) ids.push_back(view.info().id.value);
  return ids;
}

TEST(RegistryTest, ListsRunningAndFinishedOnesTheLatestFirst) {
  ExchangeRegistry registry;
  FakeExchange one(registry, 1), two(registry, 2), three(registry, 3), four(registry, 4);
  three.Finish(Cause::kTruncated);
  one.Finish(Cause::kCompleted);
  EXPECT_THAT(IdsOf(registry.ListRunning()), ElementsAre(4, 2));
  EXPECT_THAT(IdsOf(registry.ListFinished()), ElementsAre(3, 1));
  EXPECT_TRUE(registry.ListFinished()[0].finished);
  EXPECT_EQ(registry.ListFinished()[0].record->cause, Cause::kTruncated);
}

TEST(RegistryTest, KeepsTheLatestFinishedOnesOnly) {
  ExchangeRegistry registry(/*finished_kept=*/2);
  for (uint64_t id = 1; id <= 3; ++id) FakeExchange(registry, id).Finish(Cause::kCompleted);
  EXPECT_THAT(IdsOf(registry.ListFinished()), ElementsAre(3, 2));
  EXPECT_FALSE(registry.Find({1}).has_value());
  EXPECT_TRUE(registry.Find({2}).has_value());
}

TEST(RegistryTest, ShowsAttemptsAndUsageWhileItRuns) {
  ExchangeRegistry registry;
  FakeExchange exchange(registry, 1);
  EXPECT_THAT(registry.Find({1})->endpoints_in_use(), IsEmpty());
  exchange.BeginAttempt("pools/p/endpoints/a");
  EXPECT_THAT(registry.Find({1})->endpoints_in_use(), ElementsAre("pools/p/endpoints/a"));
  exchange.FailAttempt(Cause::kConnectFailed);
  EXPECT_THAT(registry.Find({1})->endpoints_in_use(), IsEmpty());
  exchange.BeginAttempt("pools/p/endpoints/b");
  registry.OnUsage(exchange.record(), Usage{5, 0, 5, {}, {}});
  exchange.PassFrame("x", /*first=*/true);
  exchange.PassFrame("y");
  const ExchangeView view = *registry.Find({1});
  EXPECT_FALSE(view.finished);
  EXPECT_EQ(view.subject->attempt, 2);
  ASSERT_EQ(view.attempts.size(), 2u);
  EXPECT_EQ(view.attempts[0].failure, Cause::kConnectFailed);
  EXPECT_THAT(view.endpoints_in_use(), ElementsAre("pools/p/endpoints/b"));
  EXPECT_EQ(view.usage->prompt_tokens, 5);
  EXPECT_EQ(view.first_frame, Instant() + std::chrono::seconds(7));
  EXPECT_EQ(view.record->frames, 2u);
}

TEST(RegistryTest, CancelsARunningExchangeOnce) {
  ExchangeRegistry registry;
  FakeExchange exchange(registry, 1);
  bool woken = false;
  exchange.cancellation().OnCancel([&woken] { woken = true; });
  EXPECT_EQ(registry.Cancel({1}, Cause::kCancelledByOperator, Instant(), "by me"),
            CancelResult::kCancelled);
  EXPECT_TRUE(woken);
  EXPECT_EQ(exchange.cancellation().detail(), "by me");
  EXPECT_EQ(registry.Cancel({1}, Cause::kDrained, Instant(), ""), CancelResult::kEndingAlready);
  exchange.Finish(Cause::kCancelledByOperator);
  EXPECT_EQ(registry.Cancel({1}, Cause::kDrained, Instant(), ""), CancelResult::kFinished);
  EXPECT_EQ(registry.Cancel({2}, Cause::kDrained, Instant(), ""), CancelResult::kUnknown);
}

TEST(RegistryTest, CopiesFramesForTapsFromNowOn) {
  ExchangeRegistry registry;
  FakeExchange exchange(registry, 1);
  exchange.PassFrame("before");
  const std::shared_ptr<Tap> tap = registry.AddTap({1});
  const std::shared_ptr<Tap> other = registry.AddTap({1});
  exchange.PassFrame("after");
  EXPECT_EQ(tap->Take().frames.size(), 1u);
  registry.RemoveTap({1}, other);
  exchange.PassFrame("last");
  exchange.Finish(Cause::kCompleted);
  const Tap::Batch batch = tap->Take();
  ASSERT_EQ(batch.frames.size(), 1u);
  EXPECT_EQ(batch.frames[0].data, "last");
  EXPECT_EQ(batch.ended, Cause::kCompleted);
  EXPECT_EQ(other->Take().frames.size(), 1u);
  EXPECT_EQ(registry.AddTap({1}), nullptr);
  EXPECT_EQ(registry.AddTap({2}), nullptr);
}

TEST(RegistryTest, KeepsBooks) {
  ExchangeRegistry registry;
  FakeExchange one(registry, 1, 3), two(registry, 2, 4), three(registry, 3, 4);
  EXPECT_THAT(registry.RunningByGeneration(), ElementsAre(Pair(4, 2), Pair(3, 1)));
  two.Finish(Cause::kClientGone);
  const ExchangeRegistry::Books books = registry.books();
  EXPECT_EQ(books.entered, 3u);
  EXPECT_EQ(books.running, 2u);
  EXPECT_THAT(books.finished, ElementsAre(Pair(Cause::kClientGone, 1)));
}

// For ThreadSanitizer: readers, cancels and taps against exchanges that come, run and go.
TEST(RegistryTest, IsReadWhileExchangesRun) {
  ExchangeRegistry registry(/*finished_kept=*/10);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      for (const ExchangeView& view : registry.ListRunning()) {
        EXPECT_LE(view.record->frames, 3u);
        registry.AddTap(view.info().id);
        registry.Cancel(view.info().id, Cause::kCancelledByOperator, Instant(), "");
      }
      for (const ExchangeView& view : registry.ListFinished()) {
        EXPECT_EQ(view.record->frames, 3u);
        EXPECT_TRUE(view.record->cause.has_value());
      }
      registry.books();
      registry.RunningByGeneration();
    }
  });
  for (uint64_t id = 1; id <= 300; ++id) {
    FakeExchange exchange(registry, id);
    exchange.BeginAttempt("pools/p/endpoints/a");
    for (int i = 0; i < 3; ++i) exchange.PassFrame("x", i == 0);
  }
  done = true;
  reader.join();
  EXPECT_EQ(registry.books().finished.at(Cause::kCompleted), 300u);
}

TEST(GapHistogramTest, SortsGapsIntoBucketsWithInclusiveBounds) {
  GapHistogram gaps;
  gaps.Add(Duration(0));
  gaps.Add(std::chrono::milliseconds(1));
  gaps.Add(std::chrono::milliseconds(1) + Duration(1));
  gaps.Add(std::chrono::hours(1));
  EXPECT_EQ(gaps.count(0), 2u);
  EXPECT_EQ(gaps.count(1), 1u);
  EXPECT_EQ(gaps.count(GapHistogram::kBuckets - 1), 1u);
}

}  // namespace
}  // namespace sluice
