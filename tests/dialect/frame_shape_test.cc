#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "tests/dialect/read_frame.h"

namespace sluice::dialect {
namespace {

TEST(StreamReaderShapeTest, SeesContentComeAndGo) {
  StreamReader reader(Dialect::kOpenAiChat);
  EXPECT_FALSE(Read(reader, Delta(R"("content":"")")).content);
  EXPECT_TRUE(Read(reader, Delta(R"("content":"x")")).content);
  EXPECT_FALSE(Read(reader, Delta(R"("content":"")")).content);
  for (int i = 0; i < 2; ++i) {
    const absl::string_view call = R"("tool_calls":[{"function":{"arguments":""}}])";
    EXPECT_TRUE(Read(reader, Delta(call)).content);
  }
}

TEST(StreamReaderShapeTest, SeesInvalidTextInAFrameThatLooksAlike) {
  StreamReader reader(Dialect::kOpenAiChat);
  const auto valid = [&](absl::string_view text) {
    EXPECT_TRUE(Read(reader, Delta(R"("content":"x")")).valid);
    return Read(reader, Delta(absl::StrCat(R"("content":")", text, "\""))).valid;
  };
  for (const absl::string_view text : {"", "a\xC3\xA9", R"(\"\\\/\b\f\n\r\t)", R"(\u00e9\ud83e)"}) {
    EXPECT_TRUE(valid(text)) << text;
  }
  for (const absl::string_view text :
       {"\n", "\x80", "\xED\xA0\x80", R"(\x)", R"(\u12)", R"(\u00g0)", "\\"}) {
    EXPECT_FALSE(valid(text)) << text;
  }
}

TEST(StreamReaderShapeTest, SeesWhatATextThatEndsEarlyBringsIn) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, Delta(R"("content":"x")"));
  EXPECT_TRUE(
      Read(reader, R"({"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"error"}]})")
          .error);
  Read(reader, R"({"choices":[],"created":1})");
  EXPECT_FALSE(Read(reader, R"({"choices":[],"created":01})").valid);
  EXPECT_TRUE(Read(reader, R"({"choices":[],"created":2.5})").valid);
  EXPECT_TRUE(
      Read(reader, R"({"choices":[],"created":1,"usage":{"prompt_tokens":1}})").usage_changed);
  EXPECT_FALSE(Read(reader, R"({"choices":[],"created":1} x)").valid);
  EXPECT_FALSE(Read(reader, R"({"choices":[],"created":)").valid);
  EXPECT_FALSE(Read(reader, R"({"choices":[],"created":})").valid);
  EXPECT_FALSE(Read(reader, R"({"choices":[])").valid);
  EXPECT_TRUE(Read(reader, R"({"delta":"x"})").valid);
  EXPECT_FALSE(Read(reader, R"({"delta":"\u1"})").valid);
}

TEST(StreamReaderShapeTest, SeesAnErrorNameOnAFrameThatLooksAlike) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, Delta(R"("content":"x")"));
  EXPECT_TRUE(Read(reader, Delta(R"("content":"y")"), "error").error);
}

TEST(StreamReaderShapeTest, SeesEachFinishOfFramesThatLookAlike) {
  StreamReader reader(Dialect::kOpenAiChat);
  const absl::string_view stop = R"({"choices":[{"finish_reason":"stop"}],"created":1})";
  Read(reader, stop);
  Read(reader, R"({"choices":[{"finish_reason":"length"}],"usage":{"prompt_tokens":1}})");
  Read(reader, stop);
  EXPECT_EQ(reader.finish_reason(), "stop");
}

TEST(StreamReaderShapeTest, SeesEachUsageOfFramesThatLookAlike) {
  StreamReader reader(Dialect::kOpenAiChat);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(
        Read(reader, R"({"choices":[],"created":1,"usage":{"prompt_tokens":1}})").usage_changed);
  }
}

}  // namespace
}  // namespace sluice::dialect
