#include "lib/telemetry/exchange_timings.h"

#include <chrono>

#include "gtest/gtest.h"

namespace sluice::telemetry {
namespace {

using std::chrono::milliseconds;

TEST(ExchangeTimingsTest, RecordsWhatWasReached) {
  ExchangeTimings timings;
  Exchange exchange;
  exchange.stamps.done = exchange.stamps.accepted + milliseconds(9);
  timings.OnFinished(exchange);
  EXPECT_EQ(timings.cancel_latency().Read().count(), 0u);
  EXPECT_EQ(timings.first_frame().Read().count(), 0u);
  EXPECT_EQ(timings.duration().Read().sum, milliseconds(9));

  exchange.cancel_latency = milliseconds(3);
  exchange.stamps.first_frame = exchange.stamps.accepted + milliseconds(5);
  timings.OnFinished(exchange);
  EXPECT_EQ(timings.cancel_latency().Read().sum, milliseconds(3));
  EXPECT_EQ(timings.first_frame().Read().sum, milliseconds(5));
  EXPECT_EQ(timings.duration().Read().count(), 2u);
}

}  // namespace
}  // namespace sluice::telemetry
