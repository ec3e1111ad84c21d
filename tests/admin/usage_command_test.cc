#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"

#include "tests/admin/sluicectl_test.h"

namespace sluice::admin {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class UsageCommandTest : public SluicectlTest {
 protected:
  UsageCommandTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      start_time { seconds: 1767322945 }
      totals { principal: "alice" model: "m\n1" pool: "chat" endpoint: "pools/chat/endpoints/a"
               exchanges: 12 completed: 10 reported: 9 partial: 2 unknown: 3 prompt_tokens: 1000 completion_tokens: 200
               total_tokens: 1200 cached_tokens: 30 reasoning_tokens: 4 }
      totals { exchanges: 1 })",
                                                              &server_.usage));
  }
};

TEST_F(UsageCommandTest, SumsUpByModelUnlessToldOtherwise) {
  EXPECT_EQ(Run({"usage"}), ExitCode::kOk);
  EXPECT_EQ(
      out(),
      "since 2026-01-02 03:02:25 +00:00\n"
      "MODEL   EXCHANGES  COMPLETED  REPORTED  PARTIAL  UNKNOWN  PROMPT  COMPLETION  TOTAL  CACHED "
      " REASONING\n"
      "m\\x0a1         12         10         9        2        3    1000         200   1200      "
      "30 "
      "         4\n"
      "-               1          0         0        0        0       0           0      0       0 "
      "         0\n");
  EXPECT_EQ(err(), "");
  EXPECT_THAT(server_.requests(), ElementsAre("group_by: DIMENSION_MODEL"));
}

TEST_F(UsageCommandTest, HasAColumnForEachThingInTheOrderGiven) {
  EXPECT_EQ(Run({"usage", "--by", "endpoint, pool,principal"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\nENDPOINT  POOL  PRINCIPAL  EXCHANGES"));
  EXPECT_THAT(out(), HasSubstr("\nchat/a    chat  alice             12"));
  EXPECT_THAT(server_.requests(),
              ElementsAre("group_by: DIMENSION_ENDPOINT group_by: DIMENSION_POOL "
                          "group_by: DIMENSION_PRINCIPAL"));
}

TEST_F(UsageCommandTest, MakesOneSumOfAllByNothing) {
  EXPECT_EQ(Run({"usage", "--by", ""}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\nEXCHANGES  COMPLETED"));
  EXPECT_THAT(server_.requests(), ElementsAre(""));
}

TEST_F(UsageCommandTest, SaysWhatItCannotSumUpBy) {
  EXPECT_EQ(Run({"usage", "--by", "model,client"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("--by: not one of principal, model, pool, endpoint: client"));
  EXPECT_THAT(server_.requests(), ElementsAre());
}

TEST_F(UsageCommandTest, SaysWhatHasNoNameOfItsOwn) {
  server_.usage.set_folded(7);
  EXPECT_EQ(Run({"usage"}), ExitCode::kOk);
  EXPECT_THAT(err(), StartsWith("sluicectl: 7 exchanges are summed up under `(other)`"));
}

TEST_F(UsageCommandTest, PrintsTheResponseAsJson) {
  EXPECT_EQ(Run({"usage", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), StartsWith(R"({"totals":[{"principal":"alice","model":"m\n1")"));
  EXPECT_THAT(out(), EndsWith("}\n"));
}

}  // namespace
}  // namespace sluice::admin
