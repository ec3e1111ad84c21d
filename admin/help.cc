#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "admin/command_line.h"

namespace sluice::admin {
namespace {

constexpr char kIntroduction[] =
    "sluicectl watches and steers a Sluice gateway.\n"
    "\n"
    "Usage: sluicectl COMMAND [ARGUMENT]... [--FLAG VALUE]...\n";

constexpr char kExitCodes[] =
    "Exit codes:\n"
    "  0  done\n"
    "  1  the server refused or failed\n"
    "  2  the command line is wrong\n"
    "  3  the server cannot be reached\n"
    "  4  conflict: somebody else changed it first, or it has ended already\n"
    "  5  not found\n"
    "  6  the configuration is not valid\n"
    "\n"
    "Data goes to standard output, words to standard error.\n";

std::string FlagLines(absl::Span<const Flag> flags) {
  std::string text;
  for (const Flag& flag : flags) {
    absl::StrAppend(&text, "  --", flag.name, flag.value_name.empty() ? "" : " ", flag.value_name,
                    "\n      ", flag.help);
    std::vector<std::string> notes;
    if (!flag.env.empty()) notes.push_back(absl::StrCat("environment: ", flag.env));
    if (!flag.default_value.empty()) notes.push_back(absl::StrCat("default: ", flag.default_value));
    if (!notes.empty()) {
      absl::StrAppend(&text, "\n      (");
      for (size_t i = 0; i < notes.size(); ++i)
        absl::StrAppend(&text, i == 0 ? "" : "; ", notes[i]);
      absl::StrAppend(&text, ")");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string Indented(absl::string_view lines) {
  std::string text;
  for (const absl::string_view line :
       absl::StrSplit(absl::StripTrailingAsciiWhitespace(lines), '\n')) {
    absl::StrAppend(&text, line.empty() ? "" : "  ", line, "\n");
  }
  return text;
}

}  // namespace

std::string HelpText(absl::Span<const Command> commands) {
  constexpr char kRow[] = "  %-26s %s\n";
  std::string text = absl::StrCat(kIntroduction, "\nCommands:\n");
  for (const Command& command : commands) {
    absl::StrAppendFormat(
        &text, kRow,
        absl::StrCat(command.name, command.arguments.empty() ? "" : " ", command.arguments),
        command.summary);
  }
  absl::StrAppendFormat(&text, kRow, "help [COMMAND]", "show this text, or all about a command");
  absl::StrAppend(&text, "\nFlags of every command:\n", FlagLines(GlobalFlags()), "\n", kExitCodes);
  return text;
}

std::string HelpText(const Command& command) {
  std::string text = absl::StrCat(
      "sluicectl ", command.name, ": ", command.summary, "\n\nUsage: sluicectl ", command.name,
      command.arguments.empty() ? "" : " ", command.arguments, " [--FLAG VALUE]...\n");
  if (!command.details.empty()) absl::StrAppend(&text, "\n", command.details);
  if (!command.rpc.empty()) absl::StrAppend(&text, "\nRPC:\n", Indented(command.rpc));
  absl::StrAppend(&text, "\nOutput:\n", Indented(command.output));
  if (!command.flags.empty()) absl::StrAppend(&text, "\nFlags:\n", FlagLines(command.flags));
  absl::StrAppend(&text, "\nFlags of every command:\n", FlagLines(GlobalFlags()));
  absl::StrAppend(&text, "\nExamples:\n", Indented(command.examples));
  return text;
}

}  // namespace sluice::admin
