// JSON that readers trip over or disagree on, in requests and in answers: what it costs, whom it
// misleads, and that no byte of it changes.

#include <ostream>
#include <string>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

std::string Nested(size_t depth) {
  return absl::StrCat(std::string(depth, '['), std::string(depth, ']'));
}

struct JsonRequest {
  std::string name;
  std::string body;
  std::string refusal = "";  // part of its message; empty: the request passes

  friend void PrintTo(const JsonRequest& value, std::ostream* out) { *out << value.name; }
};

class JsonRequests : public CaseTest, public ::testing::WithParamInterface<JsonRequest> {};

TEST_P(JsonRequests, AreRefusedOrPassAsTheyAre) {
  StartOne([](config::Config& config) { config.routes = {{"m1", "chat"}}; });
  engine_->AnswerAll(Script().Json("{}"));
  const Outcome outcome = Run(PostRequest("/v1/chat/completions", GetParam().body));
  if (GetParam().refusal.empty()) {
    ExpectPassed(outcome, "{}");
    ASSERT_EQ(engine_->requests().size(), 1u);
    EXPECT_TRUE(engine_->requests()[0].body == GetParam().body);
  } else {
    EXPECT_THAT(outcome.response.body, HasSubstr(GetParam().refusal));
    EXPECT_EQ(outcome.response.status / 100, 4);
    EXPECT_EQ(engine_->counts().requests, 0u);
  }
}

/// A request with one member more.
std::string With(absl::string_view member) {
  return absl::StrCat(R"({"model":"m1",)", member, "}");
}

constexpr char kNotJson[] = "one whole JSON object";

INSTANTIATE_TEST_SUITE_P(
    , JsonRequests,
    ::testing::Values(
        JsonRequest{"Deep", With(absl::StrCat(R"("x":)", Nested(65'000)))},
        JsonRequest{"TooDeep", With(absl::StrCat(R"("x":)", Nested(100'000))), "nested too deeply"},
        JsonRequest{"DeepAndOpen", absl::StrCat(R"({"model":"m1","x":)", std::string(60'000, '[')),
                    kNotJson},
        JsonRequest{"NotANumber", With(R"("x":NaN)"), kNotJson},
        JsonRequest{"Infinity", With(R"("x":-Infinity)"), kNotJson},
        JsonRequest{"BeyondADouble", With(R"("x":1e400,"y":-1e-400,"z":1E+400)")},
        JsonRequest{"BeyondAnInteger", With(R"("seed":18446744073709551617,"y":-0)")},
        JsonRequest{"LeadingZero", With(R"("x":007)"), kNotJson},
        JsonRequest{"TwoModels", With(R"("model":"m2")"), "`model` is given twice"},
        JsonRequest{"TwoModelsOneEscaped", With(R"("\u006dodel":"m2")"), "`model` is given twice"},
        JsonRequest{"TwoStreams", With(R"("stream":false,"stream":true)"),
                    "`stream` is given twice"},
        JsonRequest{"TwoOfAnotherMember", With(R"("n":1,"n":2)")},
        JsonRequest{"ModelInAnotherCase", With(R"("Model":"m2","MODEL":"m3")")},
        JsonRequest{"ModelOfAnotherType", R"({"model":["m1"]})", "`model` must be"},
        JsonRequest{"StreamOfAnotherType", With(R"("stream":"true")"), "`stream` must be"},
        JsonRequest{
            "EverythingOfAnotherType",
            With(R"("messages":5,"stream_options":[],"user":{},"metadata":"x","system":null)")},
        JsonRequest{"InvalidUtf8", With("\"x\":\"\xff\xc0\x80\xed\xa0\x80\"")},
        JsonRequest{"InvalidUtf8InTheModel", "{\"model\":\"m1\xff\"}", "`model` is not UTF-8"},
        JsonRequest{"HalfPairs", With(R"("x":"\ud800 \udfff \ud83d\u0041")")},
        JsonRequest{"HalfPairInTheModel", R"({"model":"m1\udfff"})", "error"},
        JsonRequest{"ZeroInTheModel", R"({"model":"m1\u0000"})", "error"},
        JsonRequest{"ZeroInAString", With(R"("x":"a\u0000b")")},
        JsonRequest{"ZeroByte", With(absl::string_view("\"x\":\"a\0b\"", 9)), kNotJson},
        JsonRequest{"ControlByte", With("\"x\":\"a\nb\""), kNotJson},
        JsonRequest{"TrailingBytes", R"({"model":"m1"}{"model":"m2"})", kNotJson},
        JsonRequest{"TrailingZero", std::string("{\"model\":\"m1\"}\0", 15), kNotJson},
        JsonRequest{"Blanks", " \t\r\n{ \"model\" : \"m1\" } \r\n"},
        JsonRequest{"Comment", R"({"model":"m1"/* */})", kNotJson},
        JsonRequest{"TrailingComma", R"({"model":"m1",})", kNotJson},
        JsonRequest{"SingleQuotes", "{'model':'m1'}", kNotJson},
        JsonRequest{"ByteOrderMark", "\xEF\xBB\xBF{\"model\":\"m1\"}"},
        JsonRequest{"Utf16", std::string("{\0\"\0m\0", 6), kNotJson}),
    [](const auto& instance) { return instance.param.name; });

struct JsonAnswer {
  std::string name;
  std::string body;
  std::string usage = "none";  // what is recorded

  friend void PrintTo(const JsonAnswer& value, std::ostream* out) { *out << value.name; }
};

class JsonAnswers : public CaseTest, public ::testing::WithParamInterface<JsonAnswer> {};

TEST_P(JsonAnswers, PassAsTheyAreAndCountWhatIsSure) {
  StartOne();
  const Outcome outcome = RunScript(Script().Json(GetParam().body), ChatRequest(false));
  EXPECT_EQ(outcome.response.status, 200);
  EXPECT_TRUE(outcome.response.body == GetParam().body);
  EXPECT_EQ(outcome.usage(), GetParam().usage);
}

TEST_P(JsonAnswers, PassInAStreamToo) {
  StartOne();
  const std::string body =
      absl::StrCat(ContentEvent("a"), "data: ", GetParam().body, "\n\n", FinishEvent(), kDoneEvent);
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).LastChunk());
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_TRUE(outcome.response.body == body);
  EXPECT_EQ(outcome.cause(), "completed");
  EXPECT_EQ(outcome.usage(), GetParam().usage);
}

/// An answer with that for its usage.
std::string Counting(absl::string_view usage) {
  return absl::StrCat(R"({"choices":[],"usage":)", usage, "}");
}

INSTANTIATE_TEST_SUITE_P(
    , JsonAnswers,
    ::testing::Values(
        JsonAnswer{"Plain", Counting(R"({"prompt_tokens":7,"completion_tokens":3})"), "7/3"},
        JsonAnswer{"DeepBesides",
                   absl::StrCat(R"({"x":)", Nested(60'000), R"(,"choices":[],)",
                                R"("usage":{"prompt_tokens":7,"completion_tokens":3}})"),
                   "7/3"},
        JsonAnswer{"TooDeep",
                   absl::StrCat(R"({"x":)", Nested(100'000), R"(,"choices":[],)",
                                R"("usage":{"prompt_tokens":7,"completion_tokens":3}})")},
        JsonAnswer{"Open", std::string(60'000, '[')},
        JsonAnswer{"NotANumber", Counting(R"({"prompt_tokens":NaN,"completion_tokens":3})")},
        JsonAnswer{"BeyondADouble",
                   Counting(R"({"prompt_tokens":7,"completion_tokens":3},"x":1e999)"), "7/3"},
        JsonAnswer{"BeyondACount",
                   Counting(R"({"prompt_tokens":18446744073709551617,"completion_tokens":1e3})")},
        JsonAnswer{"Negative", Counting(R"({"prompt_tokens":-7,"completion_tokens":-3})")},
        JsonAnswer{"OfAnotherType", Counting(R"([{"prompt_tokens":7}])")},
        JsonAnswer{"CountsOfAnotherType",
                   Counting(R"({"prompt_tokens":"7","completion_tokens":[3]})")},
        JsonAnswer{"InvalidUtf8",
                   Counting("{\"prompt_tokens\":7,\"completion_tokens\":3},\"x\":\"\xff\"")},
        JsonAnswer{"HalfPair",
                   Counting(R"({"prompt_tokens":7,"completion_tokens":3},"x":"\ud800")"), "7/3"},
        JsonAnswer{"TrailingBytes",
                   absl::StrCat(Counting(R"({"prompt_tokens":7,"completion_tokens":3})"), "x")}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sluice::testing
