#include "lib/config/validate.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

#include "lib/config/checks.h"

namespace sluice::config {
namespace {

constexpr size_t kLargestBody = size_t{4} << 30;
constexpr int kMostInFlight = 1'000'000;
constexpr int kFewestEvents = 1 << 10;
constexpr int kMostEvents = 1 << 24;
constexpr size_t kLongestId = 63;  // AIP-122: fits a DNS label
constexpr size_t kLongestModel = 256;

bool IsId(absl::string_view id) {
  return !id.empty() && id.size() <= kLongestId && absl::ascii_islower(id.front()) &&
         id.back() != '-' && std::all_of(id.begin(), id.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

/// RFC 9110 section 5.6.2.
bool IsToken(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", c);
  });
}

// Fields with which the gateway frames and names a request.
constexpr absl::string_view kFramingFields[] = {
    "Host",    "Content-Length", "Transfer-Encoding", "Connection",   "TE",
    "Trailer", "Upgrade",        "Accept-Encoding",   "X-Request-Id", "traceparent"};

bool IsFramingField(absl::string_view name) {
  return std::any_of(
      std::begin(kFramingFields), std::end(kFramingFields),
      [name](absl::string_view field) { return absl::EqualsIgnoreCase(field, name); });
}

std::string Text(Duration value) { return absl::FormatDuration(absl::FromChrono(value)); }

void CheckLimits(const Limits& limits, Checks& checks) {
  checks.CheckRange(limits.max_body_bytes, size_t{1}, kLargestBody, "limits.max_body_bytes");
  checks.CheckRange(limits.max_in_flight, 1, kMostInFlight, "limits.max_in_flight");
  checks.CheckRange(limits.event_ring_capacity, kFewestEvents, kMostEvents,
                    "limits.event_ring_capacity");
}

}  // namespace

void Checks::CheckId(absl::string_view id, absl::string_view path, Ids* seen) {
  if (!IsId(id)) {
    Add(path,
        "must be 1 to 63 lower-case letters, digits and hyphens, begin with a letter and not end "
        "with a hyphen");
  } else if (!seen->insert(id).second) {
    Add(path, absl::StrCat("\"", id, "\" is used twice"));
  }
}

void Checks::CheckModel(absl::string_view model, absl::string_view path) {
  if (model.empty()) {
    Add(path, "is required; \"*\" matches every model");
  } else if (model.size() > kLongestModel || std::any_of(model.begin(), model.end(), [](char c) {
               return absl::ascii_iscntrl(c);
             })) {
    Add(path, "must be at most 256 bytes without control characters");
  }
}

void Checks::CheckFieldName(absl::string_view name, absl::string_view path) {
  if (!IsToken(name)) {
    Add(path, "is no name of a header field");
  } else if (IsFramingField(name)) {
    Add(path, "names a header field that is the gateway's own");
  }
}

void Checks::CheckDuration(Duration value, Duration least, Duration most, absl::string_view path) {
  if (value >= least && value <= most) return;
  Add(path, absl::StrCat("must be from ", Text(least), " to ", Text(most), ", is ", Text(value)));
}

std::vector<Violation> Validate(const Config& config) {
  Checks checks;
  Checks::Ids pools;
  CheckPools(config.pools, checks, &pools);
  CheckRoutes(config.routes, pools, checks);
  CheckPrincipals(config.principals, checks);
  CheckLimits(config.limits, checks);
  return checks.Take();
}

std::string ToString(const std::vector<Violation>& violations) {
  return absl::StrJoin(violations, "\n", [](std::string* out, const Violation& violation) {
    absl::StrAppend(out, violation.path, ": ", violation.reason);
  });
}

}  // namespace sluice::config
