#include "lib/upstream/peak_ewma.h"

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PeakEwmaTest : public ::testing::Test {
 protected:
  double Millis() const {
    return std::chrono::duration<double, std::milli>(ewma_.Value(now_)).count();
  }

  Instant now_ = Instant(seconds(1000));
  PeakEwma ewma_{seconds(10)};
};

TEST_F(PeakEwmaTest, IsZeroUntilSomethingIsObserved) { EXPECT_EQ(ewma_.Value(now_), Duration(0)); }

TEST_F(PeakEwmaTest, TakesAPeakAtOnce) {
  ewma_.Observe(milliseconds(100), now_);
  EXPECT_EQ(ewma_.Value(now_), milliseconds(100));
  now_ += seconds(1);
  ewma_.Observe(milliseconds(900), now_);
  EXPECT_EQ(ewma_.Value(now_), milliseconds(900));
}

TEST_F(PeakEwmaTest, ComesDownSlowly) {
  ewma_.Observe(milliseconds(1000), now_);
  ewma_.Observe(milliseconds(100), now_);
  EXPECT_EQ(ewma_.Value(now_), milliseconds(1000)) << "no time has passed";
  now_ += seconds(10);
  ewma_.Observe(milliseconds(100), now_);
  EXPECT_NEAR(Millis(), 1000 / 2.71828 + 100 * (1 - 1 / 2.71828), 0.1);
}

TEST_F(PeakEwmaTest, SinksWhileNothingIsObserved) {
  ewma_.Observe(milliseconds(1000), now_);
  now_ += seconds(10);
  EXPECT_NEAR(Millis(), 367.9, 0.1);
  EXPECT_NEAR(Millis(), 367.9, 0.1) << "reading changes nothing";
  now_ += seconds(1000);
  EXPECT_EQ(ewma_.Value(now_), Duration(0));
}

}  // namespace
}  // namespace sluice::upstream
