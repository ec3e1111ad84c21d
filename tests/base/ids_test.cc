#include "lib/base/ids.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(IdsTest, WritesAndReadsExchangeIds) {
  const ExchangeId id{0x5f3a09c100000001};
  EXPECT_EQ(ToString(id), "x5f3a09c100000001");
  EXPECT_EQ(ParseExchangeId("x5f3a09c100000001"), id);
  EXPECT_EQ(ParseExchangeId(ToString(ExchangeId{~uint64_t{0}})), ExchangeId{~uint64_t{0}});
}

TEST(IdsTest, ReadsNothingElseAsAnExchangeId) {
  for (const char* text : {"", "x", "5f3a09c100000001", "x5f3a09c10000000", "x5f3a09c1000000011",
                           "x5F3A09C100000001", "x5f3a09c10000000g", "y5f3a09c100000001"}) {
    EXPECT_EQ(ParseExchangeId(text), std::nullopt) << text;
  }
}

TEST(IdsTest, CountsExchangesOfOneBoot) {
  const ExchangeId first = NextExchangeId();
  EXPECT_EQ(NextExchangeId().value, first.value + 1);
}

TEST(IdsTest, KeepsSaneRequestIdsOnly) {
  EXPECT_TRUE(IsSaneRequestId("req_1-2.3:4/5+6=7@8"));
  EXPECT_TRUE(IsSaneRequestId(std::string(128, 'a')));
  EXPECT_FALSE(IsSaneRequestId(std::string(129, 'a')));
  EXPECT_FALSE(IsSaneRequestId(""));
  EXPECT_FALSE(IsSaneRequestId("a b"));
  EXPECT_FALSE(IsSaneRequestId("a\r\nb"));
  EXPECT_FALSE(IsSaneRequestId("\xc3\xa9"));
}

TEST(IdsTest, MakesTraceIdsWithoutAZeroHalf) {
  const std::string id = RandomTraceId();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(id, RandomTraceId());
}

}  // namespace
}  // namespace sluice
