#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rapidjson/document.h"

#include "lib/dialect/dialect.h"

namespace sluice::dialect {
namespace {

/// The body that asks, or "unchanged".
std::string Ask(absl::string_view body, Dialect dialect = Dialect::kOpenAiChat) {
  return AskForUsage(dialect, body).value_or("unchanged");
}

struct Row {
  absl::string_view body;
  absl::string_view asking;
};

constexpr Row kChanged[] = {
    // No `stream_options`.
    {R"({"model":"m"})", R"({"stream_options":{"include_usage":true},"model":"m"})"},
    {" \r\n{ \"stream\" :true,\t\"zeta\":1.50 , \"model\":\"m\"  }\n",
     " \r\n{\"stream_options\":{\"include_usage\":true}, \"stream\" :true,\t\"zeta\":1.50 , "
     "\"model\":\"m\"  }\n"},
    {R"({"metadata":{"stream_options":{"include_usage":true}},"model":"m"})",
     R"({"stream_options":{"include_usage":true},)"
     R"("metadata":{"stream_options":{"include_usage":true}},"model":"m"})"},
    {R"({"a":[{"stream_options":null}],"include_usage":true,"model":"m"})",
     R"({"stream_options":{"include_usage":true},)"
     R"("a":[{"stream_options":null}],"include_usage":true,"model":"m"})"},
    {R"({"prompt":"\"stream_options\":{\"include_usage\":true}","model":"m"})",
     R"({"stream_options":{"include_usage":true},)"
     R"("prompt":"\"stream_options\":{\"include_usage\":true}","model":"m"})"},
    // One that says nothing of usage.
    {R"({"model":"m","stream_options":null})",
     R"({"model":"m","stream_options":{"include_usage":true}})"},
    {R"({"model":"m","stream_options": null ,"n":null})",
     R"({"model":"m","stream_options": {"include_usage":true} ,"n":null})"},
    {R"({"model":"m","stream_options":{}})",
     R"({"model":"m","stream_options":{"include_usage":true}})"},
    {"{\"model\":\"m\",\"stream_options\" : {\n} }",
     "{\"model\":\"m\",\"stream_options\" : {\"include_usage\":true\n} }"},
    {R"({"stream_options":{"x":{"include_usage":true},"y":[false]},"model":"m"})",
     R"({"stream_options":{"include_usage":true,"x":{"include_usage":true},"y":[false]},)"
     R"("model":"m"})"},
    // One that says no.
    {R"({"stream_options":{"include_usage":false},"model":"m"})",
     R"({"stream_options":{"include_usage":true},"model":"m"})"},
    {R"({"stream_options":{"a":false, "include_usage" : null , "b":null},"model":"m"})",
     R"({"stream_options":{"a":false, "include_usage" : true , "b":null},"model":"m"})"},
    {R"({"str\u0065am_options":{"include\u005Fusage":false},"model":"m"})",
     R"({"str\u0065am_options":{"include\u005Fusage":true},"model":"m"})"},
};

/// With members given twice, a byte order mark, or what RapidJSON has no document for.
constexpr Row kOddChanged[] = {
    {"\xEF\xBB\xBF{\"model\":\"m\"}",
     "\xEF\xBB\xBF{\"stream_options\":{\"include_usage\":true},\"model\":\"m\"}"},
    {R"({"stream_options":{"include_usage":true},"model":"m","stream_options":{"a":1}})",
     R"({"stream_options":{"include_usage":true},"model":"m",)"
     R"("stream_options":{"include_usage":true,"a":1}})"},
    {R"({"stream_options":{"include_usage":true,"include_usage":false},"model":"m"})",
     R"({"stream_options":{"include_usage":true,"include_usage":true},"model":"m"})"},
    {R"({"stream_options":5,"stream_options":null,"model":"m"})",
     R"({"stream_options":5,"stream_options":{"include_usage":true},"model":"m"})"},
    {R"({"a":"\ud83e","b":1e400,"stream_options":{"include_usage":false},"model":"m"})",
     R"({"a":"\ud83e","b":1e400,"stream_options":{"include_usage":true},"model":"m"})"},
};

void ExpectChanged(const Row& row) {
  const std::string asking = Ask(row.body);
  EXPECT_EQ(asking, row.asking) << row.body;
  EXPECT_EQ(Ask(asking), "unchanged") << row.body;
  const absl::StatusOr<RequestPeek> peek = PeekRequest(asking);
  ASSERT_TRUE(peek.ok()) << asking;
  EXPECT_EQ(peek->model, "m");
}

TEST(AskForUsageTest, SetsTheOptionAndChangesNoOtherByte) {
  for (const Row& row : kChanged) ExpectChanged(row);
  for (const Row& row : kOddChanged) ExpectChanged(row);
}

TEST(AskForUsageTest, MeansTheSameDocumentWithTheOptionSet) {
  for (const Row& row : kChanged) {
    rapidjson::Document expected;
    rapidjson::Document asking;
    expected.Parse(row.body.data(), row.body.size());
    const std::string text = Ask(row.body);
    asking.Parse(text.data(), text.size());
    ASSERT_FALSE(expected.HasParseError() || asking.HasParseError()) << row.body;

    auto& memory = expected.GetAllocator();
    if (!expected.HasMember("stream_options")) expected.AddMember("stream_options", {}, memory);
    rapidjson::Value& options = expected["stream_options"];
    if (options.IsNull()) options.SetObject();
    options.RemoveMember("include_usage");
    options.AddMember("include_usage", true, memory);
    EXPECT_TRUE(asking == expected) << text;
  }
}

TEST(AskForUsageTest, LeavesABodyThatAsks) {
  for (const absl::string_view body :
       {R"({"model":"m","stream_options":{"include_usage":true}})",
        R"({"model":"m","stream_options" : { "a":{}, "include_usage" : true }})",
        R"({"model":"m","stream_options":{"include_usage":false,"include_usage":true}})",
        R"({"stream_options":null,"model":"m","stream_options":{"include_usage":true}})",
        R"({"stream_options":{"include_usage":true},"x":{"include_usage":false},"model":"m"})"}) {
    EXPECT_EQ(Ask(body), "unchanged") << body;
  }
}

TEST(AskForUsageTest, LeavesWhatIsNoOptionToTheEngine) {
  for (const absl::string_view options :
       {"5", "\"x\"", "true", "false", "[]", "[{\"include_usage\":false}]",
        R"({"include_usage":1})", R"({"include_usage":"yes"})", R"({"include_usage":[false]})",
        R"({"include_usage":{"include_usage":false}})"}) {
    const std::string body = absl::StrCat(R"({"model":"m","stream_options":)", options, "}");
    EXPECT_EQ(Ask(body), "unchanged") << body;
  }
}

TEST(AskForUsageTest, LeavesOtherDialects) {
  constexpr absl::string_view kBody = R"({"model":"m","stream":true})";
  EXPECT_NE(Ask(kBody, Dialect::kOpenAiCompletions), "unchanged");
  for (const Dialect dialect : {Dialect::kNone, Dialect::kOpenAiResponses,
                                Dialect::kOpenAiEmbeddings, Dialect::kAnthropicMessages}) {
    EXPECT_EQ(Ask(kBody, dialect), "unchanged") << ToString(dialect);
  }
}

TEST(AskForUsageTest, FindsItsPlaceBehindNumbersOfAnyLength) {
  for (const std::string& number :
       {std::string(400, '9'), absl::StrCat("-0.", std::string(400, '7'), "e-12345"),
        absl::StrCat("1", std::string(300, '0'), "E+99999"),
        absl::StrCat(std::string(400, '9'), ".25")}) {
    const std::string front = absl::StrCat(R"({"a":[)", number, ",", number, "\t],\"model\":\"m\"");
    EXPECT_EQ(Ask(absl::StrCat(front, R"(,"stream_options":{"include_usage":false}})")),
              absl::StrCat(front, R"(,"stream_options":{"include_usage":true}})"));
  }
}

}  // namespace
}  // namespace sluice::dialect
