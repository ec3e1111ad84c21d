// The scripts that `sluicectl completion` prints, in the shells they are for. A shell that is not
// installed is left out, but its script is held against what the table of commands says.

#include "admin/completion.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "admin/commands.h"
#include "tests/support/child_process.h"

namespace sluice::admin {
namespace {

using ::sluice::testing::ChildProcess;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// A script in a file that is there for one test.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& text)
      : path_(absl::StrCat(::testing::TempDir(), "sluicectl-completion-", ::getpid())) {
    std::ofstream(path_) << text;
  }
  ~ScriptFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

bool IsInstalled(const std::string& shell) { return ::access(shell.c_str(), X_OK) == 0; }

/// What bash offers when Tab is pressed at the end of `words`, the first of which is "sluicectl".
std::vector<std::string> Offered(const std::vector<std::string>& words) {
  const ScriptFile script(BashCompletion(Commands()));
  std::vector<std::string> args = {"/bin/bash",
                                   "--norc",
                                   "-c",
                                   "source \"$1\" && shift && COMP_WORDS=(\"$@\") && "
                                   "COMP_CWORD=$(($# - 1)) && _sluicectl && "
                                   "printf '%s\\n' \"${COMPREPLY[@]}\"",
                                   "bash",
                                   script.path()};
  args.insert(args.end(), words.begin(), words.end());
  ChildProcess bash(args);
  EXPECT_EQ(bash.WaitForExit(), 0) << bash.err();
  EXPECT_EQ(bash.err(), "");
  return absl::StrSplit(bash.out(), '\n', absl::SkipEmpty());
}

TEST(BashCompletionTest, OffersCommandsAndTheirSecondWords) {
  EXPECT_THAT(Offered({"sluicectl", "ex"}), ElementsAre("exchange"));
  EXPECT_THAT(Offered({"sluicectl", ""}),
              AllOf(IsSupersetOf({"status", "watch", "endpoint", "doctor", "help"}),
                    Not(Contains("list"))));
  EXPECT_THAT(Offered({"sluicectl", "exchange", ""}), ElementsAre("list", "get", "cancel", "tail"));
  EXPECT_THAT(Offered({"sluicectl", "help", "exchange", "c"}), ElementsAre("cancel"));
  EXPECT_THAT(Offered({"sluicectl", "status", ""}), IsEmpty());
}

TEST(BashCompletionTest, FindsTheCommandBehindFlagsAndTheirValues) {
  EXPECT_THAT(
      Offered({"sluicectl", "--server", "exchange", "--output", "=", "json", "endpoint", "d"}),
      ElementsAre("drain"));
  EXPECT_THAT(Offered({"sluicectl", "watch", "--no-follow", "--kin"}), ElementsAre("--kind"));
}

TEST(BashCompletionTest, OffersTheFlagsOfTheCommandAndOfEveryCommand) {
  EXPECT_THAT(Offered({"sluicectl", "endpoint", "drain", "chat/a", "--"}),
              AllOf(IsSupersetOf({"--timeout", "--cancel", "--reason", "--server", "--help"}),
                    Not(Contains("--kind"))));
  EXPECT_THAT(Offered({"sluicectl", "doctor", "leaks", "--a"}), ElementsAre("--ask"));
}

TEST(BashCompletionTest, OffersTheValuesThatAreKnown) {
  EXPECT_THAT(Offered({"sluicectl", "status", "--output", ""}), ElementsAre("text", "json"));
  EXPECT_THAT(Offered({"sluicectl", "status", "--output", "="}), ElementsAre("text", "json"));
  EXPECT_THAT(Offered({"sluicectl", "status", "--output", "=", "j"}), ElementsAre("json"));
  EXPECT_THAT(Offered({"sluicectl", "completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(Offered({"sluicectl", "watch", "--kind", "started,attempt_"}),
              ElementsAre("started,attempt_failed"));
  EXPECT_THAT(Offered({"sluicectl", "exchange", "list", "--cause", "client_g"}),
              ElementsAre("client_gone"));
  EXPECT_THAT(Offered({"sluicectl", "watch", "--model", ""}), IsEmpty());
}

TEST(BashCompletionTest, OffersFilesWhereFilesAreWanted) {
  const std::string deploy = SLUICE_TEST_DATA "/../../deploy/";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"sluicectl", "config", "apply", deploy},
        {"sluicectl", "watch", "--resume-file", deploy}}) {
    EXPECT_THAT(Offered(words), Contains(deploy + "config.example.json"));
  }
}

TEST(CompletionTest, EveryShellTakesItsScript) {
  const struct {
    std::string shell;
    std::string script;
  } kRows[] = {{"/bin/bash", BashCompletion(Commands())},
               {"/usr/bin/zsh", ZshCompletion(Commands())},
               {"/usr/bin/fish", FishCompletion(Commands())}};
  for (const auto& row : kRows) {
    if (!IsInstalled(row.shell)) continue;
    const ScriptFile script(row.script);
    ChildProcess shell({row.shell, "-n", script.path()});
    EXPECT_EQ(shell.WaitForExit(), 0) << row.shell << shell.err();
    EXPECT_EQ(shell.err(), "") << row.shell;
  }
}

TEST(CompletionTest, EveryScriptHoldsEveryCommandFlagAndValue) {
  for (const std::string& script :
       {BashCompletion(Commands()), ZshCompletion(Commands()), FishCompletion(Commands())}) {
    for (const Command& command : Commands()) {
      for (const absl::string_view word : absl::StrSplit(command.name, ' ')) {
        EXPECT_THAT(script, HasSubstr(std::string(word)));
      }
      for (const Flag& flag : command.flags) {
        EXPECT_THAT(script, HasSubstr(absl::StrCat("--", flag.name)));
        if (flag.values == nullptr) continue;
        for (const std::string& value : flag.values()) EXPECT_THAT(script, HasSubstr(value));
      }
    }
    EXPECT_THAT(script, Not(ContainsRegex("@[A-Z]+@"))) << "a table was not put in";
  }
}

// A change of the table of commands shows in review as a change of these files. To renew one:
// `sluicectl completion SHELL > tests/data/completion/sluicectl.SHELL`.
TEST(CompletionTest, ScriptsAreWhatTheGoldenFilesSay) {
  const struct {
    const char* shell;
    std::string script;
  } kRows[] = {{"bash", BashCompletion(Commands())},
               {"zsh", ZshCompletion(Commands())},
               {"fish", FishCompletion(Commands())}};
  for (const auto& row : kRows) {
    std::ifstream file(absl::StrCat(SLUICE_TEST_DATA, "/completion/sluicectl.", row.shell));
    EXPECT_EQ(row.script, std::string(std::istreambuf_iterator<char>(file), {})) << row.shell;
  }
}

}  // namespace
}  // namespace sluice::admin
