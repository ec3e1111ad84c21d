#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"

namespace sluice::dialect {
namespace {

using testing::HasSubstr;

/// "MODEL" or "MODEL stream", or the message of the refusal.
std::string Peek(absl::string_view body) {
  const absl::StatusOr<RequestPeek> peek = PeekRequest(body);
  if (peek.ok()) return absl::StrCat(peek->model, peek->stream ? " stream" : "");
  EXPECT_EQ(peek.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(peek.status().message());
}

TEST(PeekRequestTest, ReadsModelAndStream) {
  EXPECT_EQ(Peek(R"({"model":"m"})"), "m");
  EXPECT_EQ(Peek(R"( {"stream":true,"messages":[{"model":"x","stream":5}],"model":"a\/b"} )"),
            "a/b stream");
  EXPECT_EQ(Peek(R"({"model":"m","stream":false})"), "m");
  EXPECT_EQ(Peek(R"({"model":"m","stream":null})"), "m");
  EXPECT_EQ(Peek(R"({"m\u006fdel":"m"})"), "m");
}

TEST(PeekRequestTest, RefusesWhatIsNotOneJsonObject) {
  for (const absl::string_view body :
       {"", "[]", "null", "\"model\"", "5", R"({"model":"m")", R"({"model":"m"}{})",
        R"([{"model":"m"}])", R"({"model":"m",})", R"({model:"m"})"}) {
    EXPECT_THAT(Peek(body), HasSubstr("one whole JSON object")) << body;
  }
  EXPECT_THAT(Peek(absl::string_view("{\"model\":\"m\"}\0{}", 16)),
              HasSubstr("one whole JSON object"));
}

TEST(PeekRequestTest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(Peek("{}"), "`model` is missing");
  for (const absl::string_view model : {"\"\"", "5", "null", "true", "{}", "[\"m\"]"}) {
    EXPECT_EQ(Peek(absl::StrCat(R"({"model":)", model, "}")), "`model` must be a non-empty string");
  }
  for (const absl::string_view stream : {"1", "\"true\"", "{}", "[true]", "\"\""}) {
    EXPECT_EQ(Peek(absl::StrCat(R"({"model":"m","stream":)", stream, "}")),
              "`stream` must be true or false");
  }
  EXPECT_EQ(Peek("{\"model\":\"\xFF\"}"), "`model` is not UTF-8");
}

TEST(PeekRequestTest, RefusesEitherKeyTwice) {
  EXPECT_EQ(Peek(R"({"model":"a","model":"a"})"), "`model` is given twice");
  EXPECT_EQ(Peek(R"({"model":"a","mode\u006c":"b"})"), "`model` is given twice");
  EXPECT_EQ(Peek(R"({"model":"a","stream":true,"stream":true})"), "`stream` is given twice");
  EXPECT_EQ(Peek(R"({"model":"a","top_p":1,"top_p":1,"x":{"model":1,"model":2}})"), "a");
}

TEST(PeekRequestTest, LeavesTheRestToTheEngine) {
  EXPECT_EQ(Peek("{\"messages\":\"\xFF\",\"n\":1e400,\"cut\":\"\\ud83e\",\"model\":\"m\","
                 "\"stream\":true}"),
            "m stream");
}

TEST(PeekRequestTest, IgnoresAByteOrderMarkInFront) {
  const std::string body = "\xEF\xBB\xBF{\"model\":\"m\",\"messages\":[]}";
  EXPECT_EQ(Peek(body), "m");
  EXPECT_EQ(PeekRequest(body)->model_value.In(body), "\"m\"");
  EXPECT_EQ(PeekRequest(body)->prompt.In(body), "[]");
  EXPECT_THAT(Peek("\xEF\xBB\xBF\xEF\xBB\xBF{\"model\":\"m\"}"),
              HasSubstr("one whole JSON object"));
  EXPECT_THAT(Peek("\xEF\xBB\xBF"), HasSubstr("one whole JSON object"));
}

TEST(PeekRequestTest, ReadsDeepNestingButNoEndlessOne) {
  const auto body = [](size_t depth) {
    return absl::StrCat(R"({"x":)", std::string(depth, '['), std::string(depth, ']'),
                        R"(,"model":"m"})");
  };
  EXPECT_EQ(Peek(body(65535)), "m");
  EXPECT_EQ(Peek(body(65536)), "the body is nested too deeply");
}

TEST(DialectTest, FollowsFromThePath) {
  EXPECT_EQ(ToString(DialectOfPath("/v1/chat/completions")), "openai.chat");
  EXPECT_EQ(ToString(DialectOfPath("/v1/completions")), "openai.completions");
  EXPECT_EQ(ToString(DialectOfPath("/v1/responses")), "openai.responses");
  EXPECT_EQ(ToString(DialectOfPath("/v1/embeddings")), "openai.embeddings");
  EXPECT_EQ(ToString(DialectOfPath("/v1/messages")), "anthropic.messages");
  for (const absl::string_view path :
       {"", "/", "/v1/models", "/v1/responses/r1", "/v1/messages/count_tokens"}) {
    EXPECT_EQ(ToString(DialectOfPath(path)), "none") << path;
    EXPECT_FALSE(NeedsModel(DialectOfPath(path)));
  }
  EXPECT_TRUE(NeedsModel(Dialect::kOpenAiEmbeddings));
}

TEST(PeekRequestLimitTest, RefusesAModelNameOfMoreThan256Bytes) {
  const auto body = [](size_t size) {
    return absl::StrCat(R"({"model":")", std::string(size, 'm'), R"("})");
  };
  EXPECT_TRUE(PeekRequest(body(256)).ok());
  EXPECT_EQ(PeekRequest(body(257)).status().message(), "`model` is longer than 256 bytes");
}

}  // namespace
}  // namespace sluice::dialect
