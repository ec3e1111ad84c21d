#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"

namespace sluice::dialect {
namespace {

std::string Rewrite(absl::string_view body, absl::string_view model) {
  const absl::StatusOr<RequestPeek> peek = PeekRequest(body);
  EXPECT_TRUE(peek.ok()) << body << ": " << peek.status();
  return peek.ok() ? RewriteModel(body, *peek, model) : "";
}

TEST(RewriteModelTest, ChangesNothingButTheName) {
  EXPECT_EQ(Rewrite(R"({"model":"gpt","stream":true})", "llama"),
            R"({"model":"llama","stream":true})");
  EXPECT_EQ(Rewrite("{ \"a\" : 1e400 ,\n \"model\" :\t\"g\\u0070t\" , \"z\":\"\\ud83e\"} ", "l"),
            "{ \"a\" : 1e400 ,\n \"model\" :\t\"l\" , \"z\":\"\\ud83e\"} ");
  EXPECT_EQ(Rewrite(R"({"mode\u006c":"gpt"})", "l"), R"({"mode\u006c":"l"})");
}

TEST(RewriteModelTest, LeavesOtherMembersOfThatName) {
  EXPECT_EQ(Rewrite(R"({"x":{"model":"a"},"messages":[{"model":"b"}],"model":"c"})", "d"),
            R"({"x":{"model":"a"},"messages":[{"model":"b"}],"model":"d"})");
}

TEST(RewriteModelTest, EscapesTheName) {
  EXPECT_EQ(Rewrite(R"({"model":"m"})", "a\"b\\c"), R"({"model":"a\"b\\c"})");
  EXPECT_EQ(Rewrite(R"({"model":"m"})", "große/模型"), R"({"model":"große/模型"})");
}

TEST(RewriteModelTest, KeepsEveryOtherByteOfAnyBody) {
  std::mt19937 random(1);
  const std::string blanks[] = {"", " ", "\n\t", "  "};
  const std::string values[] = {"1",           "-0.5e3",    "true", "null",
                                R"("te\"xt")", R"([1,{}])", "{}",   R"({"b":[]})"};
  const auto pick = [&random](const auto& from) -> const std::string& {
    return from[random() % std::size(from)];
  };
  const auto members = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&text, "\"k", i, "\"", pick(blanks), ":", pick(blanks), pick(values),
                      pick(blanks), ",");
    }
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string front =
        absl::StrCat("{", members(random() % 4), "\"model\"", pick(blanks), ":", pick(blanks));
    const std::string back = absl::StrCat(pick(blanks), ",", members(random() % 4), "\"end\":0}");
    EXPECT_EQ(Rewrite(absl::StrCat(front, "\"old\"", back), "new"),
              absl::StrCat(front, "\"new\"", back));
  }
}

TEST(ModelsBodyTest, IsOpenAis) {
  EXPECT_EQ(ModelsBody(false, {"a", "b"}, absl::FromUnixSeconds(1700000000)),
            R"({"object":"list","data":[)"
            R"({"id":"a","object":"model","created":1700000000,"owned_by":"sluice"},)"
            R"({"id":"b","object":"model","created":1700000000,"owned_by":"sluice"}]})");
}

TEST(ModelsBodyTest, IsAnthropics) {
  EXPECT_EQ(ModelsBody(true, {"a", "b"}, absl::FromUnixSeconds(1700000000)),
            R"({"data":[)"
            R"({"id":"a","type":"model","display_name":"a","created_at":"2023-11-14T22:13:20Z"},)"
            R"({"id":"b","type":"model","display_name":"b","created_at":"2023-11-14T22:13:20Z"}],)"
            R"("has_more":false,"first_id":"a","last_id":"b"})");
  EXPECT_EQ(ModelsBody(true, {}, absl::UnixEpoch()),
            R"({"data":[],"has_more":false,"first_id":null,"last_id":null})");
}

}  // namespace
}  // namespace sluice::dialect
