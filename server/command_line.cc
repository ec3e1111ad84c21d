#include "server/command_line.h"

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace sluice::server {
namespace {

/// What Abseil's parser answers itself: `--help`, `--helpmatch=drain`, `--version`.
bool AsksForHelp(absl::string_view name) {
  for (const char* asked :
       {"help", "helpfull", "helpmatch", "helppackage", "helpshort", "version"}) {
    if (name == asked) return true;
  }
  return false;
}

/// Whether it is `--noNAME` of a flag that is on or off.
bool TurnsOff(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "no")) return false;
  const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  return flag != nullptr && flag->IsOfType<bool>();
}

}  // namespace

std::string CommandLineProblem(const std::vector<std::string>& arguments) {
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    absl::string_view text = *argument;
    if (!absl::ConsumePrefix(&text, "-")) {
      return absl::StrCat("unexpected argument \"", *argument, "\"");
    }
    absl::ConsumePrefix(&text, "-");
    const size_t equals = text.find('=');
    const absl::string_view name = text.substr(0, equals);
    if (AsksForHelp(name)) return "";
    absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
    if (flag == nullptr && TurnsOff(name)) continue;
    if (flag == nullptr) return absl::StrCat("unknown flag \"", *argument, "\"");
    absl::string_view value;
    if (equals != absl::string_view::npos) {
      value = text.substr(equals + 1);
    } else if (flag->IsOfType<bool>()) {
      continue;
    } else if (++argument == arguments.end()) {
      return absl::StrCat("--", name, " needs a value");
    } else {
      value = *argument;
    }
    std::string error;
    if (!flag->ParseFrom(value, &error)) return error;
  }
  return "";
}

}  // namespace sluice::server
