#include "admin/command_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::admin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ExitCode DoNothing(CommandContext&) { return ExitCode::kOk; }

const std::vector<Command>& TestCommands() {
  static const std::vector<Command> commands = {
      {.name = "look",
       .summary = "",
       .output = "",
       .examples = "",
       .flags = {{"depth", "N", "TEST_DEPTH", "3", ""}, {"far", "", "", "", ""}},
       .run = DoNothing},
      {.name = "thing get", .summary = "", .output = "", .examples = "", .run = DoNothing},
      {.name = "thing put",
       .arguments = "FILE",
       .summary = "",
       .output = "",
       .examples = "",
       .run = DoNothing},
  };
  return commands;
}

absl::StatusOr<Invocation> Parse(std::vector<std::string> args,
                                 std::map<std::string, std::string> environment = {}) {
  return ParseCommandLine(
      args, TestCommands(), [&](absl::string_view name) -> std::optional<std::string> {
        const auto found = environment.find(std::string(name));
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      });
}

std::string ErrorOf(std::vector<std::string> args) {
  const absl::StatusOr<Invocation> invocation = Parse(std::move(args));
  EXPECT_TRUE(absl::IsInvalidArgument(invocation.status()));
  return std::string(invocation.status().message());
}

TEST(CommandLineTest, FindsCommandsOfOneAndTwoWords) {
  EXPECT_EQ(Parse({"look"})->command->name, "look");
  EXPECT_EQ(Parse({"thing", "get"})->command->name, "thing get");
  EXPECT_THAT(Parse({"thing", "put", "a.json"})->arguments, ElementsAre("a.json"));
}

TEST(CommandLineTest, TakesFlagsAnywhereInBothForms) {
  const Invocation invocation = *Parse({"--server", "h:1", "thing", "--output=json", "put", "f"});
  EXPECT_EQ(invocation.command->name, "thing put");
  EXPECT_EQ(invocation.flag("server"), "h:1");
  EXPECT_EQ(invocation.flag("output"), "json");
  EXPECT_THAT(invocation.arguments, ElementsAre("f"));
}

TEST(CommandLineTest, PrefersFlagOverEnvironmentOverDefault) {
  EXPECT_EQ(Parse({"look"})->flag("depth"), "3");
  EXPECT_EQ(Parse({"look"}, {{"TEST_DEPTH", "4"}})->flag("depth"), "4");
  EXPECT_EQ(Parse({"look", "--depth", "5"}, {{"TEST_DEPTH", "4"}})->flag("depth"), "5");
  EXPECT_EQ(Parse({"look"})->flag("server"), "127.0.0.1:9090");
  EXPECT_EQ(Parse({"look"}, {{"SLUICE_SERVER", "unix:/s"}})->flag("server"), "unix:/s");
  EXPECT_EQ(Parse({"look"}, {{"SLUICE_OUTPUT", "json"}})->flag("output"), "json");
}

TEST(CommandLineTest, TakesSwitchesWithoutAValue) {
  EXPECT_EQ(Parse({"look"})->flag("far"), "");
  EXPECT_EQ(Parse({"look", "--far"})->flag("far"), "on");
  EXPECT_EQ(Parse({"--far", "look"})->command->name, "look");
  EXPECT_EQ(Parse({"look", "--far", "--depth", "5"})->flag("depth"), "5");
  EXPECT_THAT(ErrorOf({"look", "--far=off"}), HasSubstr("--far takes no value"));
  EXPECT_THAT(ErrorOf({"thing", "get", "--far"}), HasSubstr("unknown flag --far"));
}

TEST(CommandLineTest, EndsFlagsAtTwoDashes) {
  EXPECT_THAT(Parse({"thing", "put", "--", "--odd"})->arguments, ElementsAre("--odd"));
  EXPECT_THAT(Parse({"thing", "put", "-"})->arguments, ElementsAre("-"));
}

TEST(CommandLineTest, ShowsHelpInEveryWayItIsAskedFor) {
  EXPECT_EQ(Parse({"help"})->command, nullptr);
  EXPECT_EQ(Parse({"--help"})->command, nullptr);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"help", "thing", "put"},
                                               {"thing", "put", "--help"},
                                               {"thing", "put", "-h"}}) {
    const absl::StatusOr<Invocation> invocation = Parse(args);
    ASSERT_TRUE(invocation.ok()) << invocation.status();
    EXPECT_TRUE(invocation->help);
    EXPECT_EQ(invocation->command->name, "thing put");
  }
}

TEST(CommandLineTest, SaysWhatIsWrongAndWhereToLook) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("no command given"));
  EXPECT_THAT(ErrorOf({"lok"}), HasSubstr("unknown command `lok`"));
  EXPECT_THAT(ErrorOf({"thing"}), HasSubstr("needs one of: thing get, thing put"));
  EXPECT_THAT(ErrorOf({"thing", "put"}),
              HasSubstr("`thing put` needs FILE\nSee `sluicectl help thing put`"));
  EXPECT_THAT(ErrorOf({"thing", "put", "a", "b"}), HasSubstr("unexpected argument b"));
  EXPECT_THAT(ErrorOf({"look", "x"}), HasSubstr("unexpected argument x"));
  EXPECT_THAT(ErrorOf({"thing", "get", "--depth", "1"}), HasSubstr("unknown flag --depth"));
  EXPECT_THAT(ErrorOf({"look", "-d"}), HasSubstr("unknown flag -d"));
  EXPECT_THAT(ErrorOf({"look", "--depth"}), HasSubstr("--depth needs a value"));
  EXPECT_THAT(ErrorOf({"look", "--output", "xml"}),
              HasSubstr("--output: not one of text, table, json: xml"));
}

TEST(CommandLineTest, EscapesWhatItQuotes) {
  EXPECT_THAT(ErrorOf({"\x1b[31mlook"}), HasSubstr("`\\x1b[31mlook`"));
}

}  // namespace
}  // namespace sluice::admin
