#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "lib/sse/splitter.h"
#include "tests/dialect/body_parts.h"

namespace sluice::dialect {
namespace {

TEST(ErrorBodyTest, HasOpenAisShape) {
  const std::string wanted =
      R"({"error":{"message":"no endpoint","type":"server_error","param":null,"code":"no_capacity"}})";
  for (const Dialect dialect :
       {Dialect::kOpenAiChat, Dialect::kOpenAiCompletions, Dialect::kOpenAiResponses,
        Dialect::kOpenAiEmbeddings, Dialect::kNone}) {
    EXPECT_EQ(ErrorBody(dialect, Cause::kNoCapacity, "no endpoint"), wanted);
  }
}

TEST(ErrorBodyTest, HasAnthropicsShape) {
  EXPECT_EQ(ErrorBody(Dialect::kAnthropicMessages, Cause::kNoCapacity, "no endpoint"),
            R"({"type":"error","error":{"type":"overloaded_error","message":"no endpoint"}})");
}

TEST(ErrorBodyTest, EscapesTheMessage) {
  const std::string body = ErrorBody(Dialect::kAnthropicMessages, Cause::kInternal,
                                     absl::string_view("\"\\\n\0\xC3\xA9", 6));
  EXPECT_EQ(body,
            "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":"
            "\"\\\"\\\\\\n\\u0000\xC3\xA9\"}}");
}

TEST(ErrorBodyTest, ReplacesBytesThatAreNotUtf8) {
  const std::string body = ErrorBody(Dialect::kOpenAiChat, Cause::kInternal, "a\xE2\x82 \xFFz");
  EXPECT_EQ(ErrorOfBody(body)->message, "a\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBDz");
}

TEST(ErrorEventTest, IsOneEventThatAReaderTakesForAnError) {
  for (const Dialect dialect :
       {Dialect::kOpenAiChat, Dialect::kOpenAiResponses, Dialect::kAnthropicMessages}) {
    for (const CauseInfo& info : AllCauses()) {
      int frames = 0;
      sse::Splitter splitter;
      StreamReader reader(dialect);
      splitter.Feed(ErrorEvent(dialect, info.cause, "line\nline\r"), [&](const sse::Frame& frame) {
        ++frames;
        EXPECT_EQ(frame.event, dialect == Dialect::kAnthropicMessages ? "error" : "");
        EXPECT_TRUE(reader.Read(frame).error);
      });
      EXPECT_EQ(frames, 1);
      EXPECT_FALSE(splitter.inside_event());
      EXPECT_EQ(reader.error()->message, "line\nline\r");
    }
  }
}

}  // namespace
}  // namespace sluice::dialect
