#include "admin/wording.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "admin/escape.h"

namespace sluice::admin {

namespace v1 = ::sluice::control::v1;

std::string EnumText(absl::string_view name, absl::string_view prefix, int number) {
  if (name.empty()) return absl::StrCat(number);
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string CauseText(v1::Cause cause) { return EnumText(v1::Cause_Name(cause), "CAUSE_", cause); }

std::string PhaseText(v1::Phase phase) { return EnumText(v1::Phase_Name(phase), "PHASE_", phase); }

std::string StateText(v1::EndpointStatus::State state) {
  return EnumText(v1::EndpointStatus::State_Name(state), "STATE_", state);
}

std::vector<CauseName> CauseNames() {
  std::vector<CauseName> names;
  const auto* causes = v1::Cause_descriptor();
  for (int i = 1; i < causes->value_count(); ++i) {  // the first is UNSPECIFIED
    const auto cause = static_cast<v1::Cause>(causes->value(i)->number());
    names.push_back({CauseText(cause), cause});
  }
  return names;
}

std::string UsageText(const v1::Usage& usage) {
  std::string text = absl::StrCat(usage.prompt_tokens(), "/", usage.completion_tokens(), "/",
                                  usage.total_tokens());
  if (usage.has_cached_tokens()) absl::StrAppend(&text, " cached=", usage.cached_tokens());
  if (usage.has_reasoning_tokens()) absl::StrAppend(&text, " reasoning=", usage.reasoning_tokens());
  return text;
}

std::string EndpointText(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  return EscapeName(parts.size() == 4 ? absl::StrCat(parts[1], "/", parts[3]) : std::string(name));
}

std::string ShortIdText(absl::string_view exchange) {
  constexpr size_t kDigits = 8;
  return EscapeName(exchange.size() > kDigits ? exchange.substr(exchange.size() - kDigits)
                                              : exchange);
}

std::string DurationText(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 0.01) return absl::StrFormat("%.1fms", seconds * 1e3);
  if (seconds < 1) return absl::StrFormat("%.0fms", seconds * 1e3);
  if (seconds < 60) return absl::StrFormat("%.2fs", seconds);
  const int64_t whole = absl::ToInt64Seconds(duration);
  if (whole < 3600) return absl::StrFormat("%dm%02ds", whole / 60, whole % 60);
  if (whole < 86400) return absl::StrFormat("%dh%02dm", whole / 3600, whole / 60 % 60);
  return absl::StrFormat("%dd%02dh", whole / 86400, whole / 3600 % 24);
}

std::string ClockText(const google::protobuf::Timestamp& time, absl::TimeZone zone) {
  return absl::FormatTime("%H:%M:%S", ToTime(time), zone);
}

absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

}  // namespace sluice::admin
