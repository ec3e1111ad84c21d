#include "lib/base/log.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    SetLogSink([this](absl::string_view line) { lines_.emplace_back(line); });
  }
  ~LogTest() override {
    SetLogSink({});
    ConfigureLog(LogFormat::kText, LogLevel::kInfo);
  }
  /// The last line behind its time.
  std::string Last() const { return lines_.back().substr(lines_.back().find("Z") + 1); }

  std::vector<std::string> lines_;
};

TEST_F(LogTest, WritesFieldsBehindTheMessage) {
  Log(LogLevel::kWarning, "it happened",
      {{"name", "x"}, {"count", 3}, {"sure", true}, {"ratio", 0.5}});
  EXPECT_EQ(Last(), " WARN it happened name=x count=3 sure=true ratio=0.5");
}

TEST_F(LogTest, QuotesWhatAPeerCouldForgeALineWith) {
  Log(LogLevel::kInfo, "m", {{"v", "a b=\"c\"\n\x1b[2J"}, {"e", ""}});
  EXPECT_EQ(Last(), R"( INFO m v="a b=\"c\"\u000a\u001b[2J" e="")");
}

TEST_F(LogTest, WritesJson) {
  ConfigureLog(LogFormat::kJson, LogLevel::kInfo);
  Log(LogLevel::kError, "say \"m\"", {{"v", "\n"}, {"n", 1}});
  EXPECT_EQ(Last(), R"(","level":"ERROR","message":"say \"m\"","v":"\u000a","n":1})");
}

TEST_F(LogTest, DropsLinesUnderTheMinimum) {
  Log(LogLevel::kDebug, "no");
  EXPECT_TRUE(lines_.empty());
  ConfigureLog(LogFormat::kText, LogLevel::kError);
  Log(LogLevel::kWarning, "no");
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace sluice
