#include "lib/telemetry/histogram.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace sluice::telemetry {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HistogramTest, CountsADurationUnderTheFirstBoundThatHoldsIt) {
  Histogram histogram;
  histogram.Record(Duration(0));
  histogram.Record(microseconds(100));
  histogram.Record(microseconds(101));
  histogram.Record(seconds(10));
  histogram.Record(seconds(10) + Duration(1));
  const Histogram::Reading reading = histogram.Read();
  EXPECT_EQ(reading.counts[0], 2u);
  EXPECT_EQ(reading.counts[1], 1u);
  EXPECT_EQ(reading.counts[Histogram::kBounds.size() - 1], 1u);
  EXPECT_EQ(reading.counts.back(), 1u);
  EXPECT_EQ(reading.count(), 5u);
  EXPECT_EQ(reading.sum, microseconds(201) + seconds(20) + Duration(1));
}

TEST(HistogramTest, GivesQuantilesAsBounds) {
  Histogram histogram;
  EXPECT_EQ(histogram.Read().Quantile(0.99), Duration(0));
  for (int i = 0; i < 99; ++i) histogram.Record(milliseconds(2));
  histogram.Record(milliseconds(70));
  EXPECT_EQ(histogram.Read().Quantile(0), microseconds(2500));
  EXPECT_EQ(histogram.Read().Quantile(0.99), microseconds(2500));
  EXPECT_EQ(histogram.Read().Quantile(1), milliseconds(100));
  histogram.Record(hours(1));
  EXPECT_EQ(histogram.Read().Quantile(1), Duration::max());
}

TEST(HistogramTest, LosesNothingAmongThreads) {
  Histogram histogram;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) histogram.Record(milliseconds(n));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(histogram.Read().count(), 4000u);
}

}  // namespace
}  // namespace sluice::telemetry
