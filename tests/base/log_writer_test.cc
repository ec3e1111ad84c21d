#include "lib/base/log_writer.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <signal.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

/// A log whose reader may take its time.
class LogWriterTest : public ::testing::Test {
 protected:
  LogWriterTest() {
    if (::pipe(ends_) != 0) std::abort();
    writer_.emplace(ends_[1]);
  }
  ~LogWriterTest() override {
    End();
    ::close(ends_[0]);
  }

  void End() {
    writer_.reset();
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

  std::string ReadSome() {
    std::string buffer(65536, '\0');
    const ssize_t got = ::read(ends_[0], buffer.data(), buffer.size());
    buffer.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return buffer;
  }
  /// Until the end of the pipe, or until it has `text`.
  std::string ReadUntil(absl::string_view text) {
    std::string all;
    while (!absl::StrContains(all, text)) {
      const std::string more = ReadSome();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }

  /// All there is, once the writer has ended.
  std::string ReadWhileItEnds() {
    std::string log;
    std::thread reader([&] { log = ReadUntil("what never comes"); });
    End();
    reader.join();
    return log;
  }

  int ends_[2];
  std::optional<LogWriter> writer_;
};

TEST_F(LogWriterTest, WritesLinesInOrder) {
  Log(LogLevel::kInfo, "first");
  Log(LogLevel::kInfo, "second");
  const std::string log = ReadUntil("second\n");
  EXPECT_LT(log.find(" INFO first\n"), log.find(" INFO second\n"));
}

TEST_F(LogWriterTest, NobodyWaitsForAReaderThatTakesNothing) {
  const std::string text(1000, 'x');
  constexpr int kLines = 3000;  // about three times what is held
  for (int i = 0; i < kLines; ++i) Log(LogLevel::kInfo, text);
  const std::string log = ReadWhileItEnds();
  int told = 0;
  int dropped = 0;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    const std::vector<std::string> halves = absl::StrSplit(line, "log lines were dropped count=");
    int count = 0;
    if (halves.size() == 2 && absl::SimpleAtoi(halves[1], &count)) dropped += count;
    if (absl::StrContains(line, text)) ++told;
  }
  EXPECT_GT(dropped, 900);
  EXPECT_EQ(told + dropped, kLines);
}

TEST_F(LogWriterTest, WritesWhatIsLeftAtTheEnd) {
  const std::string text(1000, 'x');
  for (int i = 0; i < 200; ++i) Log(LogLevel::kInfo, absl::StrCat(text, i));
  EXPECT_THAT(ReadWhileItEnds(), HasSubstr(absl::StrCat(text, 199, "\n")));
}

TEST_F(LogWriterTest, EndsThoughNobodyReads) {
  for (int i = 0; i < 2000; ++i) Log(LogLevel::kInfo, std::string(1000, 'x'));
  End();
}

TEST_F(LogWriterTest, OutlivesItsReader) {
  ::signal(SIGPIPE, SIG_IGN);
  ::close(ends_[0]);
  for (int i = 0; i < 2000; ++i) Log(LogLevel::kInfo, std::string(1000, 'x'));
  End();
}

}  // namespace
}  // namespace sluice
