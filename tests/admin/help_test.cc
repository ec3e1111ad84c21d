#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "admin/commands.h"
#include "admin/event_text.h"

namespace sluice::admin {
namespace {

std::string Golden(absl::string_view name) {
  const std::string path =
      absl::StrCat(SLUICE_TEST_DATA, "/help/", absl::StrReplaceAll(name, {{" ", "-"}}), ".txt");
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << "no " << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Help is a promise to scripts and people: a change shows in review as a change of these files. To
// renew one: `sluicectl help COMMAND > tests/data/help/COMMAND.txt`.
TEST(HelpTest, IsWhatTheGoldenFilesSay) {
  EXPECT_EQ(HelpText(Commands()), Golden("sluicectl"));
  for (const Command& command : Commands()) {
    EXPECT_EQ(HelpText(command), Golden(command.name));
  }
}

TEST(HelpTest, ListsEveryKindOfEventThatCanBeWatched) {
  const std::string help = Golden("watch");
  const std::string list =
      help.substr(help.find("Kinds: "), help.find("Causes are") - help.find("Kinds: "));
  const std::vector<std::string> words = absl::StrSplit(list, absl::ByAnyChar(" ,.\n"));
  for (const KindName& row : KindNames()) {
    EXPECT_THAT(words, ::testing::Contains(row.name));
  }
}

TEST(HelpTest, FitsATerminal) {
  std::string all = HelpText(Commands());
  for (const Command& command : Commands()) all += HelpText(command);
  for (size_t start = 0, end; (end = all.find('\n', start)) != std::string::npos; start = end + 1) {
    EXPECT_LE(end - start, 100u) << all.substr(start, end - start);
  }
}

}  // namespace
}  // namespace sluice::admin
