#include "lib/upstream/retry_after.h"

#include <chrono>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(RetryAfterTest, ReadsSecondsAndDates) {
  absl::Time now;
  std::string error;
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, "1994-11-06T08:49:30Z", &now, &error));
  EXPECT_EQ(ParseRetryAfter("120", now), seconds(120));
  EXPECT_EQ(ParseRetryAfter(" 0 ", now), seconds(0));
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds(7));
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:00 GMT", now), seconds(0));
}

TEST(RetryAfterTest, WaitsAnHourAtMost) {
  for (const absl::string_view value :
       {"3601", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    EXPECT_EQ(ParseRetryAfter(value, absl::UnixEpoch()), hours(1)) << value;
  }
}

TEST(RetryAfterTest, TakesNothingElse) {
  for (const absl::string_view value : {"", "soon", "-1", "1.5", "0x10", "1994-11-06"}) {
    EXPECT_EQ(ParseRetryAfter(value, absl::UnixEpoch()), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace sluice::upstream
