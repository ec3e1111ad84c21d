#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "tests/dialect/body_parts.h"

// Bodies of every dialect with whatever stands where a count belongs, and with whatever bytes.

namespace sluice::dialect {
namespace {

struct Shape {
  Dialect dialect;
  std::string body;  // the whole answer; `#` is the count
};

const Shape kShapes[] = {
    {Dialect::kNone, R"({"usage":{"prompt_tokens":#}})"},
    {Dialect::kOpenAiChat, R"({"choices":[{"index":0}],"usage":{"prompt_tokens":#}})"},
    {Dialect::kOpenAiCompletions, R"({"choices":[{"text":"a"}],"usage":{"prompt_tokens":#}})"},
    {Dialect::kOpenAiResponses, R"({"object":"response","usage":{"input_tokens":#}})"},
    {Dialect::kOpenAiEmbeddings,
     R"({"data":[{"embedding":[0.1,-1e-7]}],"usage":{"prompt_tokens":#}})"},
    {Dialect::kAnthropicMessages, R"({"type":"message","usage":{"input_tokens":#}})"},
};

std::string BodyWith(const Shape& shape, absl::string_view count) {
  return absl::StrReplaceAll(shape.body, {{"#", count}});
}

TEST(BodyNumbersTest, CountFromZeroTo53Bits) {
  for (const Shape& shape : kShapes) {
    for (const int64_t count : {int64_t{0}, int64_t{17}, (int64_t{1} << 53) - 1}) {
      bool complete = false;
      const std::optional<Usage> usage =
          UsageOfBody(shape.dialect, BodyWith(shape, absl::StrCat(count)), &complete);
      EXPECT_TRUE(complete);
      ASSERT_TRUE(usage.has_value()) << BodyWith(shape, absl::StrCat(count));
      EXPECT_EQ(usage->prompt_tokens, count);
      EXPECT_EQ(usage->total_tokens, count);
    }
  }
}

TEST(BodyNumbersTest, CountNothingElse) {
  for (const Shape& shape : kShapes) {
    for (const std::string& count :
         {std::string("-1"), std::string("-0"), std::string("1.0"), std::string("1.5"),
          std::string("1e3"), std::string("9007199254740992"), std::string("18446744073709551616"),
          std::string(400, '9'), std::string("1e400"), std::string("-1e400"), std::string("\"5\""),
          std::string("true"), std::string("[5]"), std::string("{\"a\":5}")}) {
      bool complete = false;
      EXPECT_EQ(UsageOfBody(shape.dialect, BodyWith(shape, count), &complete), std::nullopt)
          << BodyWith(shape, count);
      EXPECT_TRUE(complete) << BodyWith(shape, count);
    }
  }
}

TEST(BodyNumbersTest, AreNoJsonWhenTheyAreNone) {
  for (const Shape& shape : kShapes) {
    for (const absl::string_view count : {"", "NaN", "Infinity", "01", "+1", "1.", ".5", "0x10"}) {
      bool complete = true;
      EXPECT_EQ(UsageOfBody(shape.dialect, BodyWith(shape, count), &complete), std::nullopt);
      EXPECT_FALSE(complete) << BodyWith(shape, count);
    }
  }
}

TEST(BodyNumbersTest, OverflowNoSum) {
  const std::string most = absl::StrCat((int64_t{1} << 53) - 1);
  bool complete = false;
  const auto chat = UsageOfBody(
      Dialect::kOpenAiChat,
      absl::StrCat(R"({"usage":{"prompt_tokens":)", most, R"(,"completion_tokens":)", most, "}}"),
      &complete);
  EXPECT_EQ(chat->total_tokens, (int64_t{1} << 54) - 2);
  const auto message = UsageOfBody(
      Dialect::kAnthropicMessages,
      absl::StrCat(R"({"usage":{"input_tokens":)", most, R"(,"cache_creation_input_tokens":)", most,
                   R"(,"cache_read_input_tokens":)", most, R"(,"output_tokens":)", most, "}}"),
      &complete);
  EXPECT_EQ(message->total_tokens, (int64_t{1} << 55) - 4);
}

/// Whatever is wrong with a body, what is read of it is sane. The same mutations on each run.
TEST(BodyNumbersTest, StayCountsWhateverBytesAreBroken) {
  std::minstd_rand random(20'240'817);
  const auto below = [&random](size_t limit) { return static_cast<size_t>(random() % limit); };
  constexpr absl::string_view kBytes = "0123456789-+.eE\"\\{}[],:tfnu\x00\x80\xff \n";
  for (const Shape& shape : kShapes) {
    for (int round = 0; round < 2000; ++round) {
      std::string body = BodyWith(shape, absl::StrCat(random()));
      for (size_t n = below(4) + 1; n > 0; --n) {
        switch (below(3)) {
          case 0:
            body[below(body.size())] = kBytes[below(kBytes.size())];
            break;
          case 1:
            body.insert(below(body.size()), 1, kBytes[below(kBytes.size())]);
            break;
          default:
            body.erase(below(body.size() - 1), below(3) + 1);
            break;
        }
        if (body.size() < 2) body = "{}";
      }
      bool complete = false;
      const std::optional<Usage> usage = UsageOfBody(shape.dialect, body, &complete);
      EXPECT_TRUE(complete || !usage.has_value()) << body;
      if (usage.has_value()) {
        EXPECT_GE(usage->prompt_tokens, 0) << body;
        EXPECT_GE(usage->total_tokens, 0) << body;
      }
      ErrorOfBody(body);
      StreamReader reader(shape.dialect);
      sse::Frame frame;
      frame.data = body;
      const bool valid = reader.Read(frame).valid;
      EXPECT_EQ(valid, complete) << body;
      EXPECT_EQ(reader.Read(frame).valid, valid) << body;
    }
  }
}

}  // namespace
}  // namespace sluice::dialect
