#include "lib/telemetry/cancel_latency.h"

#include "gtest/gtest.h"

namespace sluice::telemetry {
namespace {

TEST(CancelLatencyTest, CountsCancelledExchangesOnly) {
  CancelLatency latency;
  Exchange exchange;
  latency.OnFinished(exchange);
  exchange.cancel_latency = std::chrono::milliseconds(3);
  latency.OnFinished(exchange);
  EXPECT_EQ(latency.histogram().Read().count(), 1u);
  EXPECT_EQ(latency.histogram().Read().sum, std::chrono::milliseconds(3));
}

}  // namespace
}  // namespace sluice::telemetry
