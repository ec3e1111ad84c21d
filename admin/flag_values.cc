#include "admin/flag_values.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

#include "admin/escape.h"
#include "admin/event_text.h"
#include "admin/usage_text.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

constexpr absl::Duration kLongest = absl::Hours(24);

template <typename Rows>
std::vector<std::string> NamesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace

absl::Status WrongFlag(absl::string_view flag, absl::string_view problem, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": ", problem, ": ", EscapeText(value)));
}

ExitCode ReportUsageError(CommandContext& context, const absl::Status& error) {
  context.world.err << "sluicectl: " << error.message() << "\nSee `sluicectl help "
                    << context.invocation.command->name << "`.\n";
  return ExitCode::kUsage;
}

std::vector<std::string> FlagList(const Invocation& invocation, absl::string_view flag) {
  std::vector<std::string> list;
  for (const absl::string_view element :
       absl::StrSplit(invocation.flag(flag), ',', absl::SkipWhitespace())) {
    list.emplace_back(absl::StripAsciiWhitespace(element));
  }
  return list;
}

absl::StatusOr<int64_t> FlagNumber(const Invocation& invocation, absl::string_view flag,
                                   int64_t most) {
  int64_t number = 0;
  if (absl::SimpleAtoi(invocation.flag(flag), &number) && number >= 0 && number <= most) {
    return number;
  }
  return WrongFlag(flag, absl::StrCat("not a number from 0 to ", most), invocation.flag(flag));
}

absl::StatusOr<absl::Duration> FlagDuration(const Invocation& invocation, absl::string_view flag,
                                            absl::Duration least) {
  absl::Duration duration;
  if (absl::ParseDuration(invocation.flag(flag), &duration) && duration >= least &&
      duration <= kLongest) {
    return duration;
  }
  return WrongFlag(
      flag,
      absl::StrCat("not a time like 90s or 10m, from ", absl::FormatDuration(least), " to 24h"),
      invocation.flag(flag));
}

std::vector<std::string> CauseValues() { return NamesOf(CauseNames()); }

std::vector<std::string> KindValues() { return NamesOf(KindNames()); }

std::vector<std::string> UsageDimensionValues() { return NamesOf(UsageDimensions()); }

std::string EndpointName(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  return parts.size() == 2 ? absl::StrCat("pools/", parts[0], "/endpoints/", parts[1])
                           : std::string(text);
}

}  // namespace sluice::admin
