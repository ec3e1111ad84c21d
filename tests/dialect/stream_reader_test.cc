#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "tests/dialect/read_frame.h"

namespace sluice::dialect {
namespace {

FrameView ReadErrorLine(StreamReader& reader, absl::string_view value) {
  sse::Frame frame;
  frame.data = value;
  frame.error_line = true;
  return reader.Read(frame);
}

bool IsValid(absl::string_view data) {
  StreamReader reader(Dialect::kNone);
  return Read(reader, data).valid;
}

bool IsError(absl::string_view data, absl::string_view event = "") {
  StreamReader reader(Dialect::kOpenAiChat);
  return Read(reader, data, event).error;
}

bool IsContent(Dialect dialect, absl::string_view data) {
  StreamReader reader(dialect);
  return Read(reader, data).content;
}

/// The usage after `usage` objects of chat chunks, one each.
std::optional<Usage> ChatUsage(std::initializer_list<absl::string_view> objects) {
  StreamReader reader(Dialect::kOpenAiChat);
  for (const absl::string_view object : objects) {
    Read(reader, absl::StrCat(R"({"choices":[],"usage":)", object, "}"));
  }
  return reader.usage();
}

TEST(StreamReaderValidityTest, TakesAnyJsonTextAndDone) {
  for (const absl::string_view data :
       {"{}", "[]", " 1 ", "\"x\"", "null", "\t[DONE] ", "[DONE]", "-0.5e-3"}) {
    EXPECT_TRUE(IsValid(data)) << data;
  }
}

TEST(StreamReaderValidityTest, RefusesWhatIsNotOneJsonText) {
  for (const absl::string_view data :
       {"",         " ",        "{",        "{}{}",      "{\"a\":1,}",     "[1 2]",
        "'a'",      "01",       "1.",       "NaN",       "[DONE]x",        "[Done]",
        "\n[DONE]", "\"\x01\"", "\"\\x\"",  "\"\\u12\"", "\xEF\xBB\xBF{}", "// c\n1",
        "+1",       "1e",       "\"\\ud83d"}) {
    EXPECT_FALSE(IsValid(data)) << data;
  }
}

TEST(StreamReaderValidityTest, RefusesTextAfterANul) {
  EXPECT_FALSE(IsValid(absl::string_view("{}\0{}", 5)));
  EXPECT_FALSE(IsValid(absl::string_view("{}\0", 3)));
  EXPECT_FALSE(IsValid(absl::string_view("\"a\0b\"", 5)));
}

TEST(StreamReaderValidityTest, RefusesInvalidUtf8) {
  for (const absl::string_view text :
       {"\x80", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_FALSE(IsValid(absl::StrCat("\"", text, "\""))) << text;
  }
  EXPECT_TRUE(IsValid("\"\xE2\x82\xAC \xF0\x9F\xA6\x8A\""));
}

TEST(StreamReaderValidityTest, TakesHalfASurrogatePair) {
  for (const absl::string_view text : {R"(\ud83e)", R"(\udd8a)", R"(\ud83e\ud83e)", R"(\ud83ex)",
                                       R"(\ud83e\n)", R"(\ud83e\ud83e\udd8a)", R"(\\\ud83e)"}) {
    EXPECT_TRUE(IsValid(absl::StrCat("[\"", text, "\"]"))) << text;
  }
  EXPECT_FALSE(IsValid(R"(["\ud83e\u12"])"));
}

TEST(StreamReaderValidityTest, TakesNumbersBeyondADouble) {
  const std::string digits(1000, '9');
  for (const std::string& number :
       {std::string("1e400"), std::string("-1e+400"), digits, absl::StrCat("0.", digits),
        absl::StrCat(digits, ".", digits, "E", digits)}) {
    EXPECT_TRUE(IsValid(absl::StrCat("[", number, ",\"e\\ud83e\"]"))) << number;
  }
  EXPECT_FALSE(IsValid("[1e400,01]"));
  EXPECT_FALSE(IsValid(absl::StrCat(std::string(1000, '0'), ",1e400")));
}

TEST(StreamReaderValidityTest, TakesDeepNestingButNoEndlessOne) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsValid(nested(65536)));
  EXPECT_FALSE(IsValid(nested(65537)));
}

TEST(StreamReaderValidityTest, KnowsNothingOfAnOversizeFrame) {
  StreamReader reader(Dialect::kNone);
  sse::Frame frame;
  frame.oversize = true;
  EXPECT_FALSE(reader.Read(frame).valid);
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kCleanEofWithoutDone);
}

TEST(StreamReaderUsageTest, LastOneWins) {
  EXPECT_EQ(ChatUsage({R"({"prompt_tokens":1,"completion_tokens":2})",
                       R"({"prompt_tokens":1,"completion_tokens":5})"}),
            (Usage{1, 5, 6, {}, {}}));
}

TEST(StreamReaderUsageTest, LastOneWinsInOneObjectToo) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"usage":{"prompt_tokens":1,"total_tokens":9},"usage":{"prompt_tokens":2}})");
  EXPECT_EQ(reader.usage(), (Usage{2, 0, 2, {}, {}}));
}

TEST(StreamReaderUsageTest, AChunkOfUsageHasNoChoices) {
  const auto is_chunk = [](absl::string_view data) {
    StreamReader reader(Dialect::kOpenAiChat);
    const bool is = Read(reader, data).usage_chunk;
    EXPECT_EQ(Read(reader, data).usage_chunk, is) << "when it looks like one before: " << data;
    return is;
  };
  for (const absl::string_view data :
       {R"({"choices":[],"usage":{"prompt_tokens":1}})", R"({"usage":{},"choices": [ ] })",
        R"({"created":1,"choices":[],"usage":{"prompt_tokens":"x"},"z":[{}]})"}) {
    EXPECT_TRUE(is_chunk(data)) << data;
  }
  for (const absl::string_view data :
       {R"({"choices":[],"created":1})", R"({"choices":[],"usage":null})",
        R"({"choices":[{"index":500}],"usage":{"prompt_tokens":1}})",
        R"({"choices":[],"choices":[{}],"usage":{}})",
        R"({"choices":[],"choices":null,"usage":{}})", R"({"choices":null,"usage":{}})",
        R"({"choices":{},"usage":{}})", R"({"usage":{"prompt_tokens":1,"choices":[]}})",
        R"({"x":{"choices":[]},"usage":{}})", R"([{"choices":[],"usage":{}}])", "[DONE]",
        R"({"choices":[],"usage":{},"error":{"message":"x"}})"}) {
    EXPECT_FALSE(is_chunk(data)) << data;
  }
}

TEST(StreamReaderUsageTest, NothingIsAChunkOfUsageFromAnErrorOrTheEndOn) {
  constexpr absl::string_view kChunk = R"({"choices":[],"usage":{"prompt_tokens":1}})";
  StreamReader failed(Dialect::kOpenAiChat);
  ReadErrorLine(failed, R"({"message":"x"})");
  EXPECT_FALSE(Read(failed, kChunk).usage_chunk);
  StreamReader ended(Dialect::kOpenAiChat);
  Read(ended, "[DONE]");
  EXPECT_FALSE(Read(ended, kChunk).usage_chunk);
}

TEST(StreamReaderUsageTest, NullAndEmptyChangeNothing) {
  const absl::string_view good = R"({"prompt_tokens":1})";
  for (const absl::string_view nothing :
       {"null", "{}", "5", "[1]", "\"x\"", R"({"other":1})", R"({"prompt_tokens":null})"}) {
    EXPECT_EQ(ChatUsage({nothing}), std::nullopt) << nothing;
    EXPECT_EQ(ChatUsage({good, nothing}), (Usage{1, 0, 1, {}, {}})) << nothing;
  }
}

TEST(StreamReaderUsageTest, OneBadCountMakesTheObjectUnusable) {
  for (const absl::string_view bad : {"-1", "1.0", "1e2", "\"7\"", "true", "{}", "[1]",
                                      "9007199254740992", "18446744073709551617", "1e400", "-0"}) {
    const std::string object = absl::StrCat(R"({"prompt_tokens":3,"completion_tokens":)", bad, "}");
    EXPECT_EQ(ChatUsage({R"({"prompt_tokens":1})", object}), (Usage{1, 0, 1, {}, {}})) << bad;
  }
  EXPECT_EQ(ChatUsage({R"({"prompt_tokens":9007199254740991})"})->prompt_tokens, 9007199254740991);
}

TEST(StreamReaderUsageTest, ABadDetailIsOnlyAbsent) {
  EXPECT_EQ(ChatUsage({R"({"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":-1},)"
                       R"("completion_tokens_details":{"reasoning_tokens":2.5}})"}),
            (Usage{3, 0, 3, {}, {}}));
}

TEST(StreamReaderUsageTest, KeepsZerosAndAGivenTotal) {
  EXPECT_EQ(ChatUsage({R"({"prompt_tokens":0,"completion_tokens":0})"}), (Usage{0, 0, 0, {}, {}}));
  EXPECT_EQ(ChatUsage({R"({"prompt_tokens":1,"completion_tokens":1,"total_tokens":5})"}),
            (Usage{1, 1, 5, {}, {}}));
}

TEST(StreamReaderUsageTest, ReadsDetails) {
  EXPECT_EQ(
      ChatUsage({R"({"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4},)"
                 R"("reasoning_tokens":7,"completion_tokens_details":{"reasoning_tokens":2}})"}),
      (Usage{9, 0, 9, 4, 2}));
  EXPECT_EQ(ChatUsage({R"({"prompt_tokens":9,"reasoning_tokens":7})"}), (Usage{9, 0, 9, {}, 7}));
}

TEST(StreamReaderUsageTest, IsNeverNestedNorText) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"choices":[{"usage":{"prompt_tokens":1}}],"x":{"usage":{"prompt_tokens":1}}})");
  Read(reader, R"({"x":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"usage":{"prompt_tokens":1}}}}}}}}}})");
  Read(reader, R"([{"usage":{"prompt_tokens":1}}])");
  Read(reader, R"({"usage":[{"prompt_tokens":1}],"response":{"usage":{"prompt_tokens":1}}})");
  Read(reader, Delta(R"("content":"\"usage\":{\"prompt_tokens\":1}")"));
  EXPECT_EQ(reader.usage(), std::nullopt);
}

TEST(StreamReaderUsageTest, AnthropicCountsReplaceEachOther) {
  StreamReader reader(Dialect::kAnthropicMessages);
  EXPECT_TRUE(Read(reader, R"({"type":"message_start","message":{"usage":{"input_tokens":20,)"
                           R"("cache_read_input_tokens":3,"output_tokens":1}}})")
                  .usage_changed);
  EXPECT_FALSE(Read(reader, R"({"type":"message_delta","delta":{},"usage":{"output_tokens":-5}})")
                   .usage_changed);
  EXPECT_TRUE(
      Read(reader, R"({"type":"message_delta","usage":{"output_tokens":12}})").usage_changed);
  EXPECT_FALSE(Read(reader, R"({"type":"other","usage":{"output_tokens":99}})").usage_changed);
  EXPECT_EQ(reader.usage(), (Usage{23, 12, 35, 3, {}}));
}

TEST(StreamReaderErrorTest, IsANonEmptyErrorMember) {
  EXPECT_TRUE(IsError(R"({"error":{"message":"m"}})"));
  EXPECT_TRUE(IsError(R"({"error":"m"})"));
  EXPECT_TRUE(IsError(R"([{"error":{"code":1}}])"));
  EXPECT_TRUE(IsError(R"({"object":"error"})"));
  EXPECT_TRUE(IsError(R"({"type":"error"})"));
  EXPECT_TRUE(IsError(R"({"type":"response.failed"})"));
  EXPECT_TRUE(IsError(R"({"choices":[{"finish_reason":"error"}]})"));
  EXPECT_TRUE(IsError("not JSON", "error"));
  EXPECT_TRUE(IsError("{}", "error"));
}

TEST(StreamReaderErrorTest, IsNothingEmptyOrNested) {
  for (const absl::string_view data :
       {R"({"error":null})", R"({"error":{}})", R"({"error":""})", R"({"error":false})",
        R"({"error":5})", R"({"error":{"message":"m"},"error":null})", R"([{},{"error":"m"}])",
        R"([[{"error":"m"}]])", R"({"x":{"error":"m"}})", R"({"object":"chat"})",
        R"({"choices":[{"delta":{"content":"error"}}]})"}) {
    EXPECT_FALSE(IsError(data)) << data;
  }
}

TEST(StreamReaderErrorTest, TakesTheFirst) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"error":{"message":"first","type":"t","code":429}})");
  EXPECT_TRUE(Read(reader, R"({"error":"second","error_type":"u"})").error);
  EXPECT_EQ(reader.error()->message, "first");
  EXPECT_EQ(reader.error()->type, "t");
  EXPECT_EQ(reader.error()->code, "429");
  Read(reader, "[DONE]");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kErrorEvent);
}

TEST(StreamReaderErrorTest, TakesTheLastOfOneFrame) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"error":{"message":"a","code":1},"error":{"message":"b"}})");
  EXPECT_EQ(reader.error()->message, "b");
  EXPECT_EQ(reader.error()->code, "");
}

TEST(StreamReaderErrorTest, IsUtf8WhateverTheEscapes) {
  const std::string half = "\xEF\xBF\xBD";
  const std::string fox = "\xF0\x9F\xA6\x8A";
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"error":"\ud83e\udd8a \udd8a\udd8a \ud83e","error_type":"\\ud83e"})");
  EXPECT_EQ(reader.error()->message, absl::StrCat(fox, " ", half, half, " ", half));
  EXPECT_EQ(reader.error()->type, R"(\ud83e)");
  StreamReader low(Dialect::kOpenAiChat);
  Read(low, R"({"choices":[{"finish_reason":"\udd8a"}],"error":"\ud83e\udd8a \udd8a"})");
  EXPECT_EQ(low.error()->message, absl::StrCat(fox, " ", half, half, half));
  EXPECT_EQ(low.finish_reason(), absl::StrCat(half, half, half));
}

TEST(StreamReaderErrorTest, ReadsErrorLines) {
  for (const absl::string_view value : {R"({"error":{"message":"m"}})", R"({"message":"m"})"}) {
    StreamReader reader(Dialect::kOpenAiChat);
    EXPECT_TRUE(ReadErrorLine(reader, value).error);
    EXPECT_EQ(reader.error()->message, "m");
  }
  for (const absl::string_view value : {"{}", "{", R"([{"error":"m"}])"}) {
    StreamReader reader(Dialect::kOpenAiChat);
    EXPECT_FALSE(ReadErrorLine(reader, value).error) << value;
  }
}

TEST(StreamReaderEndTest, NothingCountsAfterTheMarker) {
  StreamReader reader(Dialect::kOpenAiChat);
  EXPECT_TRUE(Read(reader, Delta(R"("content":"x")")).content);
  EXPECT_TRUE(Read(reader, "[DONE]").done);
  EXPECT_FALSE(Read(reader, "[DONE]").done);
  EXPECT_FALSE(Read(reader, R"({"error":"m","usage":{"prompt_tokens":1}})").error);
  EXPECT_FALSE(ReadErrorLine(reader, R"({"error":"m"})").error);
  EXPECT_FALSE(Read(reader, Delta(R"("content":"x")")).content);
  EXPECT_TRUE(Read(reader, Delta(R"("content":"x")")).valid);
  EXPECT_EQ(reader.usage(), std::nullopt);
  EXPECT_EQ(reader.End("data"), Terminal::kCleanDone);
}

TEST(StreamReaderEndTest, DoneIsNoMarkerWhereTheDialectHasItsOwn) {
  for (const Dialect dialect : {Dialect::kOpenAiResponses, Dialect::kAnthropicMessages}) {
    StreamReader reader(dialect);
    const FrameView view = Read(reader, "[DONE]");
    EXPECT_TRUE(view.valid);
    EXPECT_FALSE(view.done);
    EXPECT_EQ(reader.End(std::nullopt), Terminal::kTruncated);
  }
}

TEST(StreamReaderEndTest, NeedsAFinishOfEveryChoiceSeen) {
  StreamReader reader(Dialect::kOpenAiChat);
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kTruncated);
  Read(reader, R"({"choices":[{"finish_reason":"stop"},{"index":2}]})");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kTruncated);
  Read(reader, R"({"choices":[{"finish_reason":"length","index":2}]})");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kCleanEofWithoutDone);
  EXPECT_EQ(reader.finish_reason(), "stop");
}

TEST(StreamReaderEndTest, TakesTheLastChoicesOfOneFrame) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"choices":[{"finish_reason":"error"},{"index":1}],"choices":[{"index":0}]})");
  EXPECT_EQ(reader.error(), nullptr);
  EXPECT_EQ(reader.finish_reason(), "");
  Read(reader, R"({"choices":[{"finish_reason":"stop"}]})");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kCleanEofWithoutDone);
}

TEST(StreamReaderEndTest, SeesTheChoicesOfEachFrameThatLooksAlike) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"choices":[{"index":0,"text":"a"}],"created":1})");
  Read(reader, R"({"choices":[{"index":1,"text":"a"}],"created":1})");
  Read(reader, R"({"choices":[{"index":0,"finish_reason":"stop"}]})");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kTruncated);
}

TEST(StreamReaderEndTest, ForgivesATailThatSpellsDone) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"choices":[{"finish_reason":"stop"}]})");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kCleanEofWithoutDone);
  EXPECT_EQ(reader.End(" [DONE]"), Terminal::kCleanEofWithoutDone);
  EXPECT_EQ(reader.End(""), Terminal::kTruncated);
  EXPECT_EQ(reader.End("[DONE"), Terminal::kTruncated);
}

TEST(StreamReaderEndTest, FollowsNoMoreChoicesThanCanBeAskedFor) {
  StreamReader reader(Dialect::kOpenAiChat);
  Read(reader, R"({"choices":[{"index":127},{"index":128},{"index":9007199254740991}]})");
  Read(reader, R"({"choices":[{"index":127,"finish_reason":"stop"}]})");
  EXPECT_EQ(reader.End(std::nullopt), Terminal::kCleanEofWithoutDone);
}

TEST(StreamReaderContentTest, IsTextReasoningOrAToolCall) {
  for (const absl::string_view members :
       {R"("content":"x")", R"("reasoning_content":"x")", R"("reasoning":"x")", R"("refusal":"x")",
        R"("tool_calls":[{"index":0}])", R"("function_call":{"name":"f"})",
        R"("content":[{"type":"text"}])"}) {
    EXPECT_TRUE(IsContent(Dialect::kOpenAiChat, Delta(members))) << members;
  }
  EXPECT_TRUE(IsContent(Dialect::kOpenAiCompletions, R"({"choices":[{"text":"x"}]})"));
  EXPECT_TRUE(
      IsContent(Dialect::kOpenAiResponses, R"({"type":"response.output_text.delta","delta":"x"})"));
  for (const absl::string_view delta :
       {R"({"text":"x"})", R"({"thinking":"x"})", R"({"partial_json":"x"})"}) {
    EXPECT_TRUE(IsContent(Dialect::kAnthropicMessages,
                          absl::StrCat(R"({"type":"content_block_delta","delta":)", delta, "}")));
  }
  EXPECT_TRUE(IsContent(Dialect::kAnthropicMessages, R"({"content_block":{"type":"tool_use"}})"));
}

TEST(StreamReaderContentTest, IsNothingEmpty) {
  for (const absl::string_view members :
       {"", R"("role":"assistant","content":"")", R"("content":null)", R"("tool_calls":[])",
        R"("function_call":null)", R"("content":[])", R"("role":"x")"}) {
    EXPECT_FALSE(IsContent(Dialect::kOpenAiChat, Delta(members))) << members;
  }
  EXPECT_FALSE(
      IsContent(Dialect::kAnthropicMessages, R"({"content_block":{"type":"text","text":""}})"));
}

// A frame like the one before it is recognised without parsing: only what may differ may differ.
}  // namespace
}  // namespace sluice::dialect
