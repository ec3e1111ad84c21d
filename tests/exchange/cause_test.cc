#include "lib/exchange/cause.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(CauseTest, HasOneRowAndOneLabelForEach) {
  std::set<std::string> labels;
  for (const CauseInfo& row : AllCauses()) {
    EXPECT_EQ(&InfoOf(row.cause), &row);
    EXPECT_TRUE(labels.insert(std::string(row.label)).second) << row.label;
    EXPECT_EQ(ParseCause(row.label), row.cause);
  }
  EXPECT_EQ(ParseCause("no_such_cause"), std::nullopt);
}

TEST(CauseTest, HasAnErrorToGiveWhereverThereIsAStatus) {
  for (const CauseInfo& row : AllCauses()) {
    const bool answers = row.http_status != 0;
    EXPECT_EQ(answers, !row.openai_type.empty()) << row.label;
    EXPECT_EQ(answers, !row.anthropic_type.empty()) << row.label;
    EXPECT_EQ(answers, !row.message.empty()) << row.label;
    if (answers) {
      EXPECT_GE(row.http_status, 400) << row.label;
      EXPECT_LE(row.http_status, 599) << row.label;
    }
  }
}

TEST(CauseTest, LogsWhatClientsAndOperatorsDoAtInfoAndOurFaultsAtError) {
  for (const Cause cause :
       {Cause::kCompleted, Cause::kClientGone, Cause::kCancelledByOperator, Cause::kDrained}) {
    EXPECT_EQ(InfoOf(cause).level, LogLevel::kInfo) << InfoOf(cause).label;
  }
  EXPECT_EQ(InfoOf(Cause::kConnectFailed).level, LogLevel::kWarning);
  EXPECT_EQ(InfoOf(Cause::kInternal).level, LogLevel::kError);
}

TEST(CauseTest, RetriesAlwaysWhatTheUpstreamDidNotWorkOn) {
  for (const Cause cause : {Cause::kConnectFailed, Cause::kDnsFailed, Cause::kTlsFailed,
                            Cause::kConnectTimeout, Cause::kUpstreamRefused503}) {
    EXPECT_EQ(InfoOf(cause).retry, RetryClass::kAlways) << InfoOf(cause).label;
  }
  EXPECT_EQ(InfoOf(Cause::kUpstreamReset).retry, RetryClass::kByPolicy);
  EXPECT_EQ(InfoOf(Cause::kClientGone).retry, RetryClass::kNo);
}

}  // namespace
}  // namespace sluice
