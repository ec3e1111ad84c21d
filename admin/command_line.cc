#include "admin/command_line.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "admin/escape.h"
#include "lib/base/status.h"

namespace sluice::admin {
namespace {

absl::Status UsageError(absl::string_view problem, absl::string_view command_name) {
  return absl::InvalidArgumentError(absl::StrCat(
      problem, "\nSee `sluicectl help", command_name.empty() ? "" : " ", command_name, "`."));
}

/// The words of a command line apart from its flags.
struct SplitArgs {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> flags;
  bool help = false;
};

const Flag* FindFlag(absl::string_view name, absl::Span<const Flag> flags) {
  const auto found =
      std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

bool IsSwitch(absl::string_view name, absl::Span<const Command> commands) {
  return std::any_of(commands.begin(), commands.end(), [name](const Command& command) {
    const Flag* flag = FindFlag(name, command.flags);
    return flag != nullptr && flag->value_name.empty();
  });
}

/// Tells words and flags apart before the command is known.
absl::StatusOr<SplitArgs> Split(absl::Span<const std::string> args,
                                absl::Span<const Command> commands) {
  SplitArgs split;
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view arg = args[i];
    if (arg == "--") {
      split.words.insert(split.words.end(), args.begin() + i + 1, args.end());
      break;
    }
    if (arg == "--help" || arg == "-h") {
      split.help = true;
    } else if (absl::ConsumePrefix(&arg, "--")) {
      const std::vector<std::string> parts = absl::StrSplit(arg, absl::MaxSplits('=', 1));
      if (IsSwitch(parts[0], commands)) {
        if (parts.size() == 2) {
          return UsageError(absl::StrCat("--", EscapeText(parts[0]), " takes no value"), "");
        }
        split.flags.emplace_back(parts[0], "on");
        continue;
      }
      if (parts.size() == 1 && i + 1 == args.size()) {
        return UsageError(absl::StrCat("--", EscapeText(parts[0]), " needs a value"), "");
      }
      split.flags.emplace_back(parts[0], parts.size() == 2 ? parts[1] : args[++i]);
    } else if (arg.size() > 1 && arg[0] == '-') {
      return UsageError(absl::StrCat("unknown flag ", EscapeText(arg)), "");
    } else {
      split.words.emplace_back(arg);
    }
  }
  return split;
}

/// The command whose name `words` begin with; the name's words are removed. Null for no words at
/// all.
absl::StatusOr<const Command*> TakeCommand(std::vector<std::string>* words,
                                           absl::Span<const Command> commands) {
  if (words->empty()) return nullptr;
  std::vector<absl::string_view> same_group;
  for (const Command& command : commands) {
    const std::vector<std::string> name = absl::StrSplit(command.name, ' ');
    if (name.size() <= words->size() && std::equal(name.begin(), name.end(), words->begin())) {
      words->erase(words->begin(), words->begin() + name.size());
      return &command;
    }
    if (name.size() > 1 && name[0] == (*words)[0]) same_group.push_back(command.name);
  }
  if (!same_group.empty()) {
    return UsageError(absl::StrCat("`", EscapeText((*words)[0]),
                                   "` needs one of: ", absl::StrJoin(same_group, ", ")),
                      "");
  }
  return UsageError(absl::StrCat("unknown command `", EscapeText((*words)[0]), "`"), "");
}

}  // namespace

absl::Span<const Flag> GlobalFlags() {
  static const std::vector<Flag> flags = {
      {"server", "HOST:PORT|unix:PATH", "SLUICE_SERVER", "127.0.0.1:9090",
       "the control address of sluiced"},
      {"output", "text|json", "SLUICE_OUTPUT", "text",
       "aligned text for people (`table` means the same), or JSON for programs"},
      {"token-file", "PATH", "SLUICE_TOKEN_FILE", "",
       "file with the token to send, else SLUICE_TOKEN is sent (never a flag, which ps would "
       "show)"},
      {"tls-ca", "PATH|system", "SLUICE_TLS_CA", "",
       "connect with TLS, to a server that these authorities (PEM), or the system's, vouch for"},
      {"tls-cert", "PATH", "SLUICE_TLS_CERT", "", "PEM file of the certificate to show the server"},
      {"tls-key", "PATH", "SLUICE_TLS_KEY", "", "PEM file of its key"},
      {"tls-server-name", "NAME", "SLUICE_TLS_SERVER_NAME", "",
       "whom the server's certificate must be for, if not for the host of --server"},
  };
  return flags;
}

absl::string_view Invocation::flag(absl::string_view name) const {
  const auto found = flags.find(name);
  return found == flags.end() ? absl::string_view() : absl::string_view(found->second);
}

absl::StatusOr<Invocation> ParseCommandLine(absl::Span<const std::string> args,
                                            absl::Span<const Command> commands,
                                            const Environment& environment) {
  SLUICE_ASSIGN_OR_RETURN(SplitArgs split, Split(args, commands));
  Invocation invocation;
  invocation.help = split.help;
  if (!split.words.empty() && split.words[0] == "help") {
    invocation.help = true;
    split.words.erase(split.words.begin());
  }
  SLUICE_ASSIGN_OR_RETURN(invocation.command, TakeCommand(&split.words, commands));
  if (invocation.command == nullptr) {
    if (invocation.help) return invocation;
    return UsageError("no command given", "");
  }
  const Command& command = *invocation.command;

  for (const absl::Span<const Flag> flags : {GlobalFlags(), absl::MakeConstSpan(command.flags)}) {
    for (const Flag& flag : flags) {
      if (!flag.default_value.empty())
        invocation.flags[std::string(flag.name)] = std::string(flag.default_value);
      if (flag.env.empty()) continue;
      if (const auto value = environment(flag.env))
        invocation.flags[std::string(flag.name)] = *value;
    }
  }
  for (const auto& [name, value] : split.flags) {
    if (FindFlag(name, GlobalFlags()) == nullptr && FindFlag(name, command.flags) == nullptr) {
      return UsageError(absl::StrCat("unknown flag --", EscapeText(name)), command.name);
    }
    invocation.flags[name] = value;
  }
  const absl::string_view output = invocation.flag("output");
  if (output != "text" && output != "table" && output != "json") {
    return UsageError(absl::StrCat("--output: not one of text, table, json: ", EscapeText(output)),
                      command.name);
  }

  invocation.arguments = std::move(split.words);
  const size_t wanted =
      std::vector<std::string>(absl::StrSplit(command.arguments, ' ', absl::SkipEmpty())).size();
  if (!invocation.help && invocation.arguments.size() < wanted) {
    return UsageError(absl::StrCat("`", command.name, "` needs ", command.arguments), command.name);
  }
  if (invocation.arguments.size() > wanted) {
    return UsageError(
        absl::StrCat("unexpected argument ", EscapeText(invocation.arguments[wanted])),
        command.name);
  }
  return invocation;
}

}  // namespace sluice::admin
