#include "admin/completion_grammar.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sluice::admin {
namespace {

/// "text|json", FILE and PATH say themselves what may stand for them.
Candidates ValuesOf(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '|');
  Candidates values;
  for (const absl::string_view part : parts) {
    if (part == "FILE" || part == "PATH") return {{kFile, ""}};
    const bool is_word = std::all_of(part.begin(), part.end(), absl::ascii_islower);
    if (parts.size() > 1 && is_word) values.push_back({std::string(part), ""});
  }
  return values;
}

void AddFlags(absl::Span<const Flag> flags, absl::string_view command, Grammar* grammar) {
  for (const Flag& flag : flags) {
    const std::string word = absl::StrCat("--", flag.name);
    grammar->flags[std::string(command)].push_back({word, std::string(flag.help)});
    if (flag.value_name.empty()) grammar->switches.insert(word);
    Candidates values = ValuesOf(flag.value_name);
    if (flag.values != nullptr) {
      for (const std::string& value : flag.values()) values.push_back({value, ""});
    }
    if (!values.empty()) grammar->values[word] = std::move(values);
  }
}

}  // namespace

Grammar GrammarOf(absl::Span<const Command> commands) {
  Grammar grammar;
  const auto add_word = [&grammar](const std::string& before, Candidate word) {
    Candidates& words = grammar.words[before];
    const bool known = std::any_of(words.begin(), words.end(),
                                   [&](const Candidate& one) { return one.word == word.word; });
    if (!known) words.push_back(std::move(word));
  };
  for (const Command& command : commands) {
    const std::vector<std::string> name = absl::StrSplit(command.name, ' ');
    const std::string about(command.summary);
    if (name.size() == 1) {
      add_word("", {name[0], about});
    } else {
      add_word("", {name[0], absl::StrCat("commands about: ", name[0])});
      add_word(name[0], {name[1], about});
    }
    AddFlags(command.flags, command.name, &grammar);
    const std::vector<std::string> arguments =
        absl::StrSplit(command.arguments, ' ', absl::SkipEmpty());
    if (arguments.empty()) continue;
    if (Candidates values = ValuesOf(arguments[0]); !values.empty()) {
      grammar.words[std::string(command.name)] = std::move(values);
    }
  }
  add_word("", {"help", "show help"});
  AddFlags(GlobalFlags(), "", &grammar);
  grammar.flags[""].push_back({"--help", "show help"});
  return grammar;
}

}  // namespace sluice::admin
