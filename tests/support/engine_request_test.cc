#include "tests/support/engine_request.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;

constexpr char kChunkedHead[] =
    "POST /v1/x?q=%20+;a HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nx-two:  2 \r\nTransfer-Encoding: "
    "Chunked\r\n\r\n";

TEST(RequestReaderTest, TakesTheSameRequestHoweverItIsCut) {
  const std::string wire =
      absl::StrCat(kChunkedHead, "5\r\nhello\r\nA;ext=1\r\n, world...\r\n0\r\nX-T: 1\r\n\r\n");
  for (size_t step = 1; step <= wire.size(); ++step) {
    RequestReader reader;
    std::optional<EngineRequest> request;
    for (size_t i = 0; i < wire.size(); i += step) {
      ASSERT_FALSE(request) << "whole before its last byte, step " << step;
      reader.Feed(absl::string_view(wire).substr(i, step));
      request = reader.Next();
    }
    ASSERT_TRUE(request) << "step " << step;
    EXPECT_EQ(request->head, kChunkedHead);
    EXPECT_EQ(request->body, "hello, world...");
    EXPECT_FALSE(reader.Next());
  }
}

TEST(RequestReaderTest, SeparatesPipelinedRequests) {
  RequestReader reader;
  reader.Feed(absl::StrCat("POST /1 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", kChunkedHead,
                           "1\r\nz\r\n0\r\n\r\n", kChunkedHead, "1\r\ny\r\n0\r\n\r\n",
                           "GET /4 HTTP/1.1\n\n"));
  EXPECT_EQ(reader.Next()->body, "abc");
  EXPECT_EQ(reader.Next()->body, "z");
  EXPECT_EQ(reader.Next()->body, "y");
  EXPECT_EQ(reader.Next()->target(), "/4");
  EXPECT_FALSE(reader.Next());
}

TEST(RequestReaderTest, WaitsForTheWholeBody) {
  RequestReader reader;
  reader.Feed("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab");
  EXPECT_FALSE(reader.Next());
  reader.Feed("c");
  EXPECT_EQ(reader.Next()->body, "abc");
}

TEST(EngineRequestTest, ShowsTheRequestLineAndFields) {
  EngineRequest request;
  request.head = kChunkedHead;
  EXPECT_EQ(request.method(), "POST");
  EXPECT_EQ(request.target(), "/v1/x?q=%20+;a");
  EXPECT_EQ(request.path(), "/v1/x");
  EXPECT_THAT(request.HeaderValues("X-TWO"), ElementsAre("1", "2"));
  EXPECT_THAT(request.HeaderValues("X-None"), ElementsAre());
}

TEST(EngineRequestTest, FindsModelAndStreamInOddJson) {
  EngineRequest request;
  request.body =
      "{ \"stream_options\":{}, \"note\":\"the model\",\"model\" :\n \"m1\", \"stream\" : true }";
  EXPECT_EQ(request.model(), "m1");
  EXPECT_TRUE(request.stream());
  request.body = R"({"messages":["model","stream"],"stream":false})";
  EXPECT_EQ(request.model(), "");
  EXPECT_FALSE(request.stream());
}

}  // namespace
}  // namespace sluice::testing
