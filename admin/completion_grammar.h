#ifndef SLUICE_ADMIN_COMPLETION_GRAMMAR_H_
#define SLUICE_ADMIN_COMPLETION_GRAMMAR_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "admin/command_line.h"

namespace sluice::admin {

/// One thing that may stand at a place.
struct Candidate {
  std::string word;
  std::string about;
};
using Candidates = std::vector<Candidate>;

/// Stands for every name of a file.
inline constexpr char kFile[] = "<file>";

/// What may stand at each place; the keys are what the scripts look up.
struct Grammar {
  std::map<std::string, Candidates> words;   // by the words before: "", "exchange", "config apply"
  std::map<std::string, Candidates> flags;   // by command; "" for those of every command
  std::map<std::string, Candidates> values;  // by flag: "--output"
  std::set<std::string> switches = {"-h", "--help"};
};

/// What `commands` and GlobalFlags() allow.
Grammar GrammarOf(absl::Span<const Command> commands);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_COMPLETION_GRAMMAR_H_
