#include "lib/exchange/message.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointee;

std::vector<std::string> Lines(const HeaderList& headers) {
  std::vector<std::string> lines;
  for (const Header& header : headers) lines.push_back(header.name + ": " + header.value);
  return lines;
}

HeaderList Sample() {
  HeaderList headers;
  headers.Add("A", "1");
  headers.Add("b", "2");
  headers.Add("a", "3");
  return headers;
}

TEST(HeaderListTest, KeepsOrderCaseAndDuplicates) {
  EXPECT_THAT(Lines(Sample()), ElementsAre("A: 1", "b: 2", "a: 3"));
}

TEST(HeaderListTest, FindsNamesInAnyCase) {
  const HeaderList headers = Sample();
  EXPECT_THAT(headers.Find("B"), Pointee(std::string("2")));
  EXPECT_THAT(headers.Find("a"), Pointee(std::string("1"))) << "the first";
  EXPECT_EQ(headers.Find("c"), nullptr);
  EXPECT_EQ(headers.Count("A"), 2u);
}

TEST(HeaderListTest, RemovesEveryFieldOfAName) {
  HeaderList headers = Sample();
  EXPECT_EQ(headers.Remove("A"), 2u);
  EXPECT_THAT(Lines(headers), ElementsAre("b: 2"));
}

TEST(HeaderListTest, SetsOneFieldInThePlaceOfTheFirst) {
  HeaderList headers = Sample();
  headers.Set("a", "x");
  EXPECT_THAT(Lines(headers), ElementsAre("A: x", "b: 2"));
  headers.Set("c", "y");
  EXPECT_THAT(Lines(headers), ElementsAre("A: x", "b: 2", "c: y"));
}

TEST(HeaderListTest, FindsTokensInListsOverSeveralFields) {
  HeaderList headers;
  headers.Add("Connection", "keep-alive, X-Hop");
  headers.Add("connection", "Close");
  EXPECT_TRUE(headers.HasToken("Connection", "close"));
  EXPECT_TRUE(headers.HasToken("Connection", "x-hop"));
  EXPECT_FALSE(headers.HasToken("Connection", "hop"));
}

TEST(RequestTest, HasThePathWithoutTheQuery) {
  Request request;
  request.target = "/v1/models?limit=1?";
  EXPECT_EQ(request.path(), "/v1/models");
  request.target = "/v1/models";
  EXPECT_EQ(request.path(), "/v1/models");
}

}  // namespace
}  // namespace sluice
