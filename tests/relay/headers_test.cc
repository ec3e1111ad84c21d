#include "lib/relay/headers.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// What passes of the headers, both ways (ruling 9).

namespace sluice::relay {
namespace {

std::string Text(const HeaderList& headers) {
  std::string text;
  for (const Header& field : headers) absl::StrAppend(&text, field.name, ": ", field.value, "\n");
  return text;
}

class OutboundHeadersTest : public ::testing::Test {
 protected:
  OutboundHeadersTest() { request_.headers.Add("traceparent", kTraceparent); }

  std::string Outbound(config::Credentials credentials = config::Credentials::kReplace) const {
    return Text(PrepareOutbound(request_, "req-1", credentials).headers);
  }

  static constexpr absl::string_view kTraceparent =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  static constexpr absl::string_view kOurs =
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n"
      "Accept-Encoding: identity\nX-Request-Id: req-1\n";
  Request request_;
};

TEST_F(OutboundHeadersTest, PassesEndToEndHeadersInOrderWithDuplicates) {
  request_.headers = HeaderList();
  request_.headers.Add("B", "1");
  request_.headers.Add("a", "2");
  request_.headers.Add("b", "3");
  request_.headers.Add("traceparent", kTraceparent);
  EXPECT_EQ(Outbound(), absl::StrCat("B: 1\na: 2\nb: 3\n", kOurs));
}

TEST_F(OutboundHeadersTest, RemovesHopByHopHeaders) {
  for (const absl::string_view name :
       {"Connection", "keep-alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        "Proxy-Authorization", "Proxy-Connection", "proxy-anything"}) {
    request_.headers.Add(name, "x");
  }
  EXPECT_EQ(Outbound(), kOurs);
}

TEST_F(OutboundHeadersTest, RemovesWhatConnectionNames) {
  request_.headers.Add("Connection", "close, X-One");
  request_.headers.Add("x-one", "1");
  request_.headers.Add("Connection", "x-two");
  request_.headers.Add("X-Two", "2");
  request_.headers.Add("X-Two", "3");
  EXPECT_EQ(Outbound(), kOurs);
}

TEST_F(OutboundHeadersTest, LeavesFramingHostAndExpectToTheTransport) {
  for (const absl::string_view name : {"Host", "Content-Length", "Expect"}) {
    request_.headers.Add(name, "x");
  }
  EXPECT_EQ(Outbound(), kOurs);
}

TEST_F(OutboundHeadersTest, RemovesForgedAddresses) {
  for (const absl::string_view name : {"REMOTE_ADDR", "Remote_Port", "LOCAL_ADDR", "LOCAL_PORT"}) {
    request_.headers.Add(name, "x");
  }
  EXPECT_EQ(Outbound(), kOurs);
}

TEST_F(OutboundHeadersTest, NeverSendsTheClientsCredentials) {
  for (const absl::string_view name :
       {"authorization", "X-Api-Key", "api-key", "x-goog-api-key", "Cookie"}) {
    request_.headers.Add(name, "secret");
  }
  EXPECT_EQ(Outbound(), kOurs);
}

TEST_F(OutboundHeadersTest, PassesCredentialsWhenThePoolSaysSo) {
  request_.headers.Add("Authorization", "Bearer theirs");
  EXPECT_THAT(Outbound(config::Credentials::kPassThrough),
              ::testing::HasSubstr("Authorization: Bearer theirs\n"));
}

TEST_F(OutboundHeadersTest, AsksForNoEncoding) {
  request_.headers.Add("Accept-Encoding", "gzip");
  request_.headers.Add("Accept-Encoding", "br");
  const OutboundRequest outbound =
      PrepareOutbound(request_, "req-1", config::Credentials::kReplace);
  EXPECT_EQ(outbound.headers.Count("Accept-Encoding"), 1u);
  EXPECT_EQ(*outbound.headers.Find("Accept-Encoding"), "identity");
}

TEST_F(OutboundHeadersTest, SendsOneRequestId) {
  request_.headers.Add("X-Request-Id", "one");
  request_.headers.Add("x-request-id", "two");
  const OutboundRequest outbound =
      PrepareOutbound(request_, "req-1", config::Credentials::kReplace);
  EXPECT_EQ(outbound.headers.Count("X-Request-Id"), 1u);
  EXPECT_EQ(*outbound.headers.Find("X-Request-Id"), "req-1");
}

TEST_F(OutboundHeadersTest, ContinuesATraceWithItsState) {
  request_.headers.Add("tracestate", "vendor=1");
  EXPECT_THAT(Outbound(), ::testing::HasSubstr("tracestate: vendor=1\n"));
  EXPECT_THAT(Outbound(), ::testing::HasSubstr(absl::StrCat("traceparent: ", kTraceparent, "\n")));
}

TEST_F(OutboundHeadersTest, StartsATraceInPlaceOfABrokenOne) {
  request_.headers = HeaderList();
  request_.headers.Add("traceparent", "00-junk");
  request_.headers.Add("tracestate", "vendor=1");
  const OutboundRequest outbound =
      PrepareOutbound(request_, "req-1", config::Credentials::kReplace);
  EXPECT_EQ(outbound.headers.Count("traceparent"), 1u);
  EXPECT_TRUE(IsValidTraceparent(*outbound.headers.Find("traceparent")));
  EXPECT_EQ(outbound.headers.Find("tracestate"), nullptr);
}

TEST_F(OutboundHeadersTest, StartsATraceInPlaceOfTwo) {
  request_.headers.Add("traceparent", kTraceparent);
  const OutboundRequest outbound =
      PrepareOutbound(request_, "req-1", config::Credentials::kReplace);
  EXPECT_EQ(outbound.headers.Count("traceparent"), 1u);
  EXPECT_NE(*outbound.headers.Find("traceparent"), kTraceparent);
}

TEST(TraceparentTest, IsValidAsTheStandardSays) {
  EXPECT_TRUE(IsValidTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_TRUE(IsValidTraceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"));
  for (const absl::string_view bad :
       {"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}) {
    EXPECT_FALSE(IsValidTraceparent(bad)) << bad;
  }
}

TEST(RequestIdTest, IsTheClientsWhenSane) {
  HeaderList headers;
  headers.Add("x-request-id", "theirs-1");
  EXPECT_EQ(ChooseRequestId(headers, "ours"), "theirs-1");
}

TEST(RequestIdTest, IsOursWhenTheClientsIsMissingStrangeOrDouble) {
  HeaderList headers;
  EXPECT_EQ(ChooseRequestId(headers, "ours"), "ours");
  headers.Add("X-Request-Id", "two words");
  EXPECT_EQ(ChooseRequestId(headers, "ours"), "ours");
  headers.Set("X-Request-Id", "one");
  headers.Add("X-Request-Id", "two");
  EXPECT_EQ(ChooseRequestId(headers, "ours"), "ours");
}

class AnswerHeadersTest : public RelayTest {};

TEST_F(AnswerHeadersTest, PassEndToEndWithOurRequestId) {
  HeaderList theirs;
  theirs.Add("X-Request-Id", "upstream-copy");
  theirs.Add("Connection", "keep-alive, X-Hop");
  theirs.Add("X-Hop", "1");
  theirs.Add("Keep-Alive", "timeout=5");
  theirs.Add("Transfer-Encoding", "chunked");
  theirs.Add("Proxy-Authenticate", "Basic");
  theirs.Add("Set-Cookie", "a=1");
  theirs.Add("Set-Cookie", "b=2");
  theirs.Add("openai-processing-ms", "12");
  transport_.Play(
      Script().Head(200, kEventStreamType, theirs).Piece(kHello).Piece(kStop).Piece(kDone).End());
  Request request = ChatRequest();
  request.headers.Add("X-Request-Id", "theirs-1");
  Run(request);
  EXPECT_EQ(Text(sink_.head().headers),
            "Set-Cookie: a=1\nSet-Cookie: b=2\nopenai-processing-ms: 12\n"
            "Content-Type: text/event-stream\nX-Request-Id: theirs-1\n");
  EXPECT_EQ(finished().info().request_id, "theirs-1");
}

TEST_F(AnswerHeadersTest, NameTheExchangeWhenTheClientGaveNoId) {
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(*AnswerHeader("X-Request-Id"), ToString(finished().info().id));
  EXPECT_EQ(*transport_.sent()[0]->request.headers.Find("X-Request-Id"),
            ToString(finished().info().id));
}

TEST_F(AnswerHeadersTest, KeepTheLengthOfABodyThatHasOne) {
  HeaderList theirs;
  theirs.Add("Content-Length", "2");
  transport_.Play(Script().Head(200, "application/json", theirs).Piece("{}").EndWithLastPiece());
  const std::unique_ptr<Answer> answer = Serve();
  EXPECT_EQ(answer->body(), Answer::Body::kSized);
  Drive(*answer);
  EXPECT_EQ(*AnswerHeader("Content-Length"), "2");
}

TEST_F(AnswerHeadersTest, KeepTheLengthOfABodyThatHeadAskedNotFor) {
  HeaderList theirs;
  theirs.Add("Content-Length", "1234");
  transport_.Play(Script().Head(200, "application/json", theirs).End());
  Request request = ChatRequest();
  request.method = "HEAD";
  request.target = "/v1/models";
  request.body.clear();
  const std::unique_ptr<Answer> answer = Serve(request);
  EXPECT_EQ(answer->body(), Answer::Body::kNone);
  EXPECT_EQ(answer->Next(sink_), Answer::Step::kEnd);
  EXPECT_EQ(*AnswerHeader("Content-Length"), "1234");
  EXPECT_EQ(cause(), Cause::kCompleted);
}

}  // namespace
}  // namespace sluice::relay
