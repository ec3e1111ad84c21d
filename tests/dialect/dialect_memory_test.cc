#include <string>
#include <sys/resource.h>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "tests/dialect/body_parts.h"

namespace sluice::dialect {
namespace {

constexpr size_t kBodyBytes = size_t{20} << 20;
// The deepest nesting that is followed costs 0.5 MiB, more while it grows or under a sanitizer.
constexpr size_t kSlack = size_t{8} << 20;

size_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

std::string Repeated(absl::string_view unit) {
  std::string out;
  out.reserve(kBodyBytes + unit.size());
  while (out.size() < kBodyBytes) absl::StrAppend(&out, unit);
  return out;
}

TEST(DialectMemoryTest, RefusesEndlessNestingAtSmallCost) {
  for (const absl::string_view unit : {"[", "{\"a\":"}) {
    const std::string body = absl::StrCat("{\"model\":\"m\",\"x\":", Repeated(unit));
    const size_t before = PeakResidentBytes();
    EXPECT_FALSE(PeekRequest(body).ok());
    bool complete = true;
    EXPECT_EQ(UsageOfBody(Dialect::kOpenAiChat, body, &complete), std::nullopt);
    EXPECT_FALSE(complete);
    EXPECT_LE(PeakResidentBytes() - before, kSlack) << unit;
  }
}

TEST(DialectMemoryTest, ReadsManyValuesAtSmallCost) {
  for (const absl::string_view unit : {"0,", "{\"usage\":{}},"}) {
    const std::string body = absl::StrCat("{\"model\":\"m\",\"choices\":[", Repeated(unit), "0]}");
    const size_t before = PeakResidentBytes();
    EXPECT_TRUE(PeekRequest(body).ok());
    bool complete = false;
    UsageOfBody(Dialect::kOpenAiChat, body, &complete);
    EXPECT_TRUE(complete);
    EXPECT_LE(PeakResidentBytes() - before, kSlack) << unit;
  }
}

}  // namespace
}  // namespace sluice::dialect
