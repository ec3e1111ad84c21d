#include "admin/completion.h"

#include <functional>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include "admin/completion_grammar.h"

namespace sluice::admin {
namespace {

using Table = std::map<std::string, Candidates>;
using Print = std::function<std::string(const Candidates&)>;

/// `text` as one word of bash and zsh.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string FishQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string JoinedSwitches(const Grammar& grammar, absl::string_view between) {
  return absl::StrJoin(grammar.switches, between);
}

/// The branches of a `case` of bash or zsh.
std::string Cases(const Table& table, const Print& print) {
  std::string text;
  for (const auto& [key, candidates] : table) {
    absl::StrAppend(&text, "    ", Quoted(key), ") ", print(candidates), " ;;\n");
  }
  return text;
}

/// The branches for the flags of each command, whatever arguments follow its name. Backwards, so
/// that `doctor leaks` comes before `doctor`.
std::string FlagCases(const Table& table, const Print& print) {
  std::string text;
  for (auto row = table.rbegin(); row != table.rend() && !row->first.empty(); ++row) {
    absl::StrAppend(&text, "    ", Quoted(row->first), " | ", Quoted(row->first + " "), "*) ",
                    print(row->second), " ;;\n");
  }
  return text;
}

std::string FishCases(const Table& table, const Print& print) {
  std::string text;
  for (const auto& [key, candidates] : table) {
    absl::StrAppend(&text, "        case ", FishQuoted(key), "\n", print(candidates));
  }
  return text;
}

std::string FishFlagCases(const Table& table, const Print& print) {
  std::string text;
  for (auto row = table.rbegin(); row != table.rend() && !row->first.empty(); ++row) {
    absl::StrAppend(&text, "        case ", FishQuoted(row->first), " ",
                    FishQuoted(row->first + " *"), "\n", print(row->second));
  }
  return text;
}

// In the scripts: @WORDS@, @FLAGS@ and @VALUES@ are the tables, @EVERY@ the flags of every command,
// @SWITCHES@ those without a value.

constexpr char kBash[] =
    R"(# Completes command lines of sluicectl. Made by `sluicectl completion bash`.
_sluicectl_words() {
  case $1 in
@WORDS@  esac
}
_sluicectl_flags() {
  echo @EVERY@
  case $1 in
@FLAGS@  esac
}
_sluicectl_values() {
  case $1 in
@VALUES@  esac
}
_sluicectl() {
  local current=${COMP_WORDS[COMP_CWORD]} word flag='' words='' candidates before=''
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then flag=''; continue; fi
    case $word in
      @SWITCHES@) ;;
      --*) flag=$word ;;
      help) words+=${words:+ help} ;;
      *) words+=${words:+ }$word ;;
    esac
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -n $flag ]]; then
    candidates=$(_sluicectl_values "$flag")
    if [[ $current == *,* ]]; then before=${current%,*}, current=${current##*,}; fi
  elif [[ $current == -* ]]; then
    candidates=$(_sluicectl_flags "$words")
  else
    candidates=$(_sluicectl_words "$words")
  fi
  if [[ $candidates == '<file>' ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$candidates" -- "$current")
  fi
}
complete -F _sluicectl sluicectl
)";

constexpr char kZsh[] = R"(#compdef sluicectl
# Completes command lines of sluicectl. Made by `sluicectl completion zsh`.
_sluicectl_words() {
  case $1 in
@WORDS@  esac
}
_sluicectl_flags() {
  candidates=(@EVERY@)
  case $1 in
@FLAGS@  esac
}
_sluicectl_values() {
  case $1 in
@VALUES@  esac
}
_sluicectl() {
  local word flag='' joined=''
  local -a candidates
  for word in "${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=''; continue; fi
    case $word in
      @SWITCHES@ | --*=*) ;;
      --*) flag=$word ;;
      help) joined+=${joined:+ help} ;;
      *) joined+=${joined:+ }$word ;;
    esac
  done
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    _sluicectl_values "$flag"
    if [[ $PREFIX == *,* ]]; then compset -P '*,'; fi
  elif [[ $PREFIX == -* ]]; then
    _sluicectl_flags "$joined"
  else
    _sluicectl_words "$joined"
  fi
  if [[ "$candidates" == '<file>' ]]; then
    _files
  else
    _describe -V 'sluicectl' candidates
  fi
}
if [[ ${funcstack[1]} == _sluicectl ]]; then _sluicectl "$@"; else compdef _sluicectl sluicectl; fi
)";

constexpr char kFish[] =
    R"(# Completes command lines of sluicectl. Made by `sluicectl completion fish`.
function __sluicectl_words
    switch "$argv"
@WORDS@    end
end
function __sluicectl_flags
@EVERY@    switch "$argv"
@FLAGS@    end
end
function __sluicectl_values
    switch "$argv"
@VALUES@    end
end
function __sluicectl_complete
    set -l current (commandline -ct)
    set -l before (string match -r '^.*[=,]' -- $current)
    set -l flag ''
    set -l words
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            set flag ''
            continue
        end
        switch $word
            case @SWITCHES@ '--*=*'
            case '--*'
                set flag $word
            case help
                if set -q words[1]
                    set -a words help
                end
            case '*'
                set -a words $word
        end
    end
    if test -z "$flag"; and string match -q -- '--*=*' $current
        set flag (string replace -r '=.*' '' -- $current)
    end
    if test -n "$flag"
        for value in (__sluicectl_values $flag)
            if test "$value" = '<file>'
                __fish_complete_path $current
            else
                printf '%s%s\n' "$before" $value
            end
        end
    else if string match -q -- '-*' $current
        __sluicectl_flags $words
    else
        for word in (__sluicectl_words $words)
            if test "$word" = '<file>'
                __fish_complete_path $current
            else
                printf '%s\n' $word
            end
        end
    end
end
complete -c sluicectl -f -a '(__sluicectl_complete)'
)";

}  // namespace

std::string BashCompletion(absl::Span<const Command> commands) {
  const Grammar grammar = GrammarOf(commands);
  const auto words = [](const Candidates& candidates) {
    return Quoted(absl::StrJoin(candidates, " ", [](std::string* out, const Candidate& one) {
      absl::StrAppend(out, one.word);
    }));
  };
  const Print echo = [&](const Candidates& candidates) { return "echo " + words(candidates); };
  return absl::StrReplaceAll(kBash, {{"@WORDS@", Cases(grammar.words, echo)},
                                     {"@FLAGS@", FlagCases(grammar.flags, echo)},
                                     {"@VALUES@", Cases(grammar.values, echo)},
                                     {"@EVERY@", words(grammar.flags.at(""))},
                                     {"@SWITCHES@", JoinedSwitches(grammar, " | ")}});
}

std::string ZshCompletion(absl::Span<const Command> commands) {
  const Grammar grammar = GrammarOf(commands);
  const auto list = [](const Candidates& candidates) {
    return absl::StrJoin(candidates, " ", [](std::string* out, const Candidate& one) {
      absl::StrAppend(
          out, Quoted(one.about.empty() ? one.word : absl::StrCat(one.word, ":", one.about)));
    });
  };
  const Print set = [&](const Candidates& candidates) {
    return absl::StrCat("candidates=(", list(candidates), ")");
  };
  const Print add = [&](const Candidates& candidates) {
    return absl::StrCat("candidates+=(", list(candidates), ")");
  };
  return absl::StrReplaceAll(kZsh, {{"@WORDS@", Cases(grammar.words, set)},
                                    {"@FLAGS@", FlagCases(grammar.flags, add)},
                                    {"@VALUES@", Cases(grammar.values, set)},
                                    {"@EVERY@", list(grammar.flags.at(""))},
                                    {"@SWITCHES@", JoinedSwitches(grammar, " | ")}});
}

std::string FishCompletion(absl::Span<const Command> commands) {
  const Grammar grammar = GrammarOf(commands);
  const auto lines = [](absl::string_view indent) -> Print {
    return [indent](const Candidates& candidates) {
      std::string text;
      for (const Candidate& one : candidates) {
        absl::StrAppend(&text, indent, "echo ", FishQuoted(one.word),
                        one.about.empty() ? "" : absl::StrCat("\\t", FishQuoted(one.about)), "\n");
      }
      return text;
    };
  };
  const Print in_case = lines("            ");
  return absl::StrReplaceAll(kFish, {{"@WORDS@", FishCases(grammar.words, in_case)},
                                     {"@FLAGS@", FishFlagCases(grammar.flags, in_case)},
                                     {"@VALUES@", FishCases(grammar.values, in_case)},
                                     {"@EVERY@", lines("    ")(grammar.flags.at(""))},
                                     {"@SWITCHES@", JoinedSwitches(grammar, " ")}});
}

}  // namespace sluice::admin
