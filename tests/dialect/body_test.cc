#include <string>

#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"
#include "tests/dialect/body_parts.h"

namespace sluice::dialect {
namespace {

TEST(BodyTest, ReadsUsageWhereTheDialectHasIt) {
  bool complete = false;
  EXPECT_EQ(UsageOfBody(Dialect::kOpenAiEmbeddings,
                        R"({"usage":{"prompt_tokens":8,"total_tokens":8}})", &complete),
            (Usage{8, 0, 8, {}, {}}));
  EXPECT_TRUE(complete);
  EXPECT_EQ(UsageOfBody(Dialect::kOpenAiResponses, R"({"usage":{"prompt_tokens":8}})", &complete),
            std::nullopt);
  EXPECT_TRUE(complete);
}

TEST(BodyTest, HasNoUsageUnlessItIsOneWholeJsonText) {
  bool complete = true;
  EXPECT_EQ(UsageOfBody(Dialect::kOpenAiChat, R"({"usage":{"prompt_tokens":8})", &complete),
            std::nullopt);
  EXPECT_FALSE(complete);
  EXPECT_EQ(UsageOfBody(Dialect::kOpenAiChat, R"({"usage":{"prompt_tokens":8}} {})", &complete),
            std::nullopt);
  EXPECT_FALSE(complete);
  EXPECT_EQ(ErrorOfBody(R"({"error":{"message":"m"})"), std::nullopt);
}

TEST(BodyTest, IsCompleteWhateverItsValue) {
  bool complete = false;
  EXPECT_EQ(UsageOfBody(Dialect::kOpenAiChat, " [1] ", &complete), std::nullopt);
  EXPECT_TRUE(complete);
}

TEST(BodyTest, IsAnErrorWhenTheResponseFailed) {
  EXPECT_TRUE(ErrorOfBody(R"({"object":"response","status":"failed","error":null})").has_value());
  EXPECT_EQ(
      ErrorOfBody(R"({"object":"response","status":"failed","error":{"code":"c","message":"m"}})")
          ->code,
      "c");
  EXPECT_EQ(ErrorOfBody(R"({"object":"response","status":"completed","error":null})"),
            std::nullopt);
  EXPECT_EQ(ErrorOfBody(R"({"object":"batch","status":"failed"})"), std::nullopt);
}

}  // namespace
}  // namespace sluice::dialect
