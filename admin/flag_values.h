#ifndef SLUICE_ADMIN_FLAG_VALUES_H_
#define SLUICE_ADMIN_FLAG_VALUES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "admin/commands.h"
#include "admin/exit_code.h"

namespace sluice::admin {

// What the values of flags mean. INVALID_ARGUMENT: the message names the flag, says what is wrong,
// and quotes the value.

absl::Status WrongFlag(absl::string_view flag, absl::string_view problem, absl::string_view value);

/// Says on `world.err` what is wrong with the command line, and where to look.
ExitCode ReportUsageError(CommandContext& context, const absl::Status& error);

/// The elements of a flag's list, without the blanks around them.
std::vector<std::string> FlagList(const Invocation& invocation, absl::string_view flag);

/// Looks each element of a flag's list up in `names` and hands the row to `add`.
template <typename Names, typename Add>
absl::Status ForEachFlagName(const Invocation& invocation, absl::string_view flag,
                             const Names& names, Add add) {
  for (const std::string& wanted : FlagList(invocation, flag)) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& row) { return row.name == wanted; });
    if (found == names.end()) {
      const std::string list = absl::StrJoin(
          names, ", ", [](std::string* out, const auto& row) { absl::StrAppend(out, row.name); });
      return WrongFlag(flag, absl::StrCat("not one of ", list), wanted);
    }
    add(*found);
  }
  return absl::OkStatus();
}

/// A whole number from 0 to `most`.
absl::StatusOr<int64_t> FlagNumber(const Invocation& invocation, absl::string_view flag,
                                   int64_t most);

/// A length of time, like 90s or 10m, from `least` to 24 h.
absl::StatusOr<absl::Duration> FlagDuration(const Invocation& invocation, absl::string_view flag,
                                            absl::Duration least);

/// "pools/chat/endpoints/a" of "chat/a", as tables and event lines show it; anything else as it is.
std::string EndpointName(absl::string_view text);

/// For Flag::values.
std::vector<std::string> CauseValues();
std::vector<std::string> KindValues();
std::vector<std::string> UsageDimensionValues();

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_FLAG_VALUES_H_
