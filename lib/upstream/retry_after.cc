#include "lib/upstream/retry_after.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace sluice::upstream {
namespace {

constexpr Duration kLongestRest = std::chrono::hours(1);

}  // namespace

std::optional<Duration> ParseRetryAfter(absl::string_view value, absl::Time now) {
  value = absl::StripAsciiWhitespace(value);
  if (!value.empty() && std::all_of(value.begin(), value.end(),
                                    [](unsigned char c) { return absl::ascii_isdigit(c); })) {
    uint64_t seconds = std::numeric_limits<uint64_t>::max();
    if (!absl::SimpleAtoi(value, &seconds) || seconds > 3600) return kLongestRest;
    return std::chrono::seconds(seconds);
  }
  absl::Time at;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", value, &at, &error)) return std::nullopt;
  return std::clamp(absl::ToChronoNanoseconds(at - now), Duration(0), kLongestRest);
}

}  // namespace sluice::upstream
