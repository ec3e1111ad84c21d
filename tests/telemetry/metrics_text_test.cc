#include "lib/telemetry/metrics_text.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(MetricsTextTest, WritesAFamilyWithItsSamples) {
  MetricsText text;
  text.Counter("sluice_exchanges_total", "Finished exchanges.");
  text.Sample({{"cause", "completed"}, {"pool", "chat"}}, 12);
  text.Sample({}, 0.5);
  text.Gauge("sluice_fibers", "Fibers.");
  text.Sample({}, 9007199254740.0);
  EXPECT_EQ(text.Take(),
            "# HELP sluice_exchanges_total Finished exchanges.\n"
            "# TYPE sluice_exchanges_total counter\n"
            "sluice_exchanges_total{cause=\"completed\",pool=\"chat\"} 12\n"
            "sluice_exchanges_total 0.5\n"
            "# HELP sluice_fibers Fibers.\n"
            "# TYPE sluice_fibers gauge\n"
            "sluice_fibers 9007199254740\n");
}

TEST(MetricsTextTest, EscapesWhatALabelMayNotHold) {
  MetricsText text;
  text.Gauge("g", "h");
  text.Sample({{"model", "a\"b\\c\nd"}}, 1);
  EXPECT_THAT(text.Take(), HasSubstr("g{model=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(MetricsTextTest, WritesAHistogramCumulatively) {
  Histogram histogram;
  histogram.Record(std::chrono::microseconds(100));
  histogram.Record(std::chrono::milliseconds(1));
  histogram.Record(std::chrono::hours(1));
  MetricsText text;
  text.Distribution("d_seconds", "h", histogram.Read());
  const std::string page = text.Take();
  EXPECT_THAT(page, StartsWith("# HELP d_seconds h\n# TYPE d_seconds histogram\n"
                               "d_seconds_bucket{le=\"0.0001\"} 1\n"
                               "d_seconds_bucket{le=\"0.00025\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("d_seconds_bucket{le=\"0.001\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("d_seconds_bucket{le=\"10\"} 2\n"
                              "d_seconds_bucket{le=\"+Inf\"} 3\n"
                              "d_seconds_sum 3600.0011\n"
                              "d_seconds_count 3\n"));
}

}  // namespace
}  // namespace sluice::telemetry
