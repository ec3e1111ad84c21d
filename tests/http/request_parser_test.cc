#include "lib/http/request_parser.h"

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/http/allocations.h"
#include "tests/http/request_script.h"

namespace sluice::http {
namespace {

using Result = RequestParser::Result;
using ::testing::HasSubstr;

constexpr absl::string_view kChunkedPost =
    "POST /v1/chat/completions?x=%2F%20+;a&x=1 HTTP/1.1\r\n"
    "Host: gateway.example:8080\r\n"
    "Transfer-Encoding: Chunked\r\n"
    "Cookie: a=1\r\n"
    "X-Empty:\r\n"
    "Cookie: b=%0d%0a; c=\xc3\xa9  \r\n"
    "\r\n"
    "5\r\nhello\r\n"
    "00A;name=\"value\"\r\n, \r\n world\r\n"
    "0\r\n\r\n"
    "GET /next HTTP/1.1\r\n";

TEST(RequestParserTest, ReadsAChunkedRequestAndLeavesTheNextOneAlone) {
  const RequestOutcome outcome = ReadRequest(Whole(kChunkedPost));
  EXPECT_EQ(Describe(outcome),
            "result=2 heads=1 cause=internal message=\n"
            "POST /v1/chat/completions?x=%2F%20+;a&x=1 1.1 continue=0 keep_alive=1\n"
            "Host=gateway.example:8080\n"
            "Transfer-Encoding=Chunked\n"
            "Cookie=a=1\n"
            "X-Empty=\n"
            "Cookie=b=%0d%0a; c=\xc3\xa9\n"
            "body=hello, \r\n world\n"
            "leftover=GET /next HTTP/1.1\r\n");
}

TEST(RequestParserTest, ReadsTheSameHoweverTheBytesAreCut) {
  const std::string whole = Describe(ReadRequest(Whole(kChunkedPost)));
  for (const Pieces& pieces : InTwo(kChunkedPost)) {
    ASSERT_EQ(Describe(ReadRequest(pieces)), whole) << pieces.front();
  }
  for (const Pieces& pieces : SomeCuts(kChunkedPost)) {
    ASSERT_EQ(Describe(ReadRequest(pieces)), whole);
  }
}

constexpr absl::string_view kAnyBytes("\0\n\r\n\xff", 5);

struct Accepted {
  std::string name;
  std::string bytes;
  std::string method;
  std::string target;
  std::string body;
  bool keep_alive = true;
  bool wants_continue = false;
  std::string host = "h";

  friend void PrintTo(const Accepted& value, std::ostream* out) { *out << value.bytes; }
};

class AcceptedRequestTest : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedRequestTest, IsReadTheSameHoweverItIsCut) {
  const Accepted& expected = GetParam();
  const RequestOutcome outcome = ReadRequest(Whole(expected.bytes));
  ASSERT_EQ(outcome.result, Result::kDone) << Describe(outcome);
  EXPECT_EQ(outcome.request.method, expected.method);
  EXPECT_EQ(outcome.request.target, expected.target);
  EXPECT_EQ(outcome.request.body, expected.body);
  EXPECT_EQ(outcome.keep_alive, expected.keep_alive);
  EXPECT_EQ(outcome.wants_continue, expected.wants_continue);
  EXPECT_EQ(outcome.heads, 1);
  EXPECT_EQ(outcome.leftover, "");
  const std::string* host = outcome.request.headers.Find("Host");
  EXPECT_EQ(host == nullptr ? "" : *host, expected.host);
  for (const Pieces& pieces : SomeCuts(expected.bytes)) {
    ASSERT_EQ(Describe(ReadRequest(pieces)), Describe(outcome));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AcceptedRequestTest,
    testing::Values(
        Accepted{"Get", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET", "/", ""},
        Accepted{"GetWithBody", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", "GET",
                 "/", "abc"},
        Accepted{"PostWithoutFraming", "POST / HTTP/1.1\r\nHost: h\r\n\r\n", "POST", "/", ""},
        Accepted{"LengthZero", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "PUT", "/",
                 ""},
        Accepted{"LengthWithZerosInFront",
                 "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 003\r\n\r\nabc", "POST", "/",
                 "abc"},
        Accepted{"BodyOfAnyBytes",
                 absl::StrCat("POST / HTTP/1.1\r\nHost: h\r\ncontent-length: 5\r\n\r\n", kAnyBytes),
                 "POST", "/", std::string(kAnyBytes)},
        Accepted{"EmptyChunkedBody",
                 "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 "POST", "/", ""},
        Accepted{"UnknownMethod", "BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n", "BREW", "/pot", ""},
        Accepted{"Http10", "GET / HTTP/1.0\r\nHost: h\r\n\r\n", "GET", "/", "", false},
        Accepted{"Http10WithoutHost", "GET / HTTP/1.0\r\n\r\n", "GET", "/", "", false, false, ""},
        Accepted{"Http10KeepAlive", "GET / HTTP/1.0\r\nHost: h\r\nConnection: Keep-Alive\r\n\r\n",
                 "GET", "/", ""},
        Accepted{"Http10IgnoresExpect",
                 "POST / HTTP/1.0\r\nHost: h\r\nExpect: x\r\nContent-Length: 1\r\n\r\na", "POST",
                 "/", "a", false},
        Accepted{"ConnectionClose", "GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n",
                 "GET", "/", "", false},
        Accepted{"Expect",
                 "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\na",
                 "POST", "/", "a", true, true},
        Accepted{"ExpectWithoutBody", "GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n",
                 "GET", "/", ""},
        Accepted{"UpgradeIsIgnored",
                 "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "GET",
                 "/", ""},
        Accepted{"AbsoluteForm", "GET http://other:81/a?b HTTP/1.1\r\nHost: h\r\n\r\n", "GET",
                 "/a?b", "", true, false, "other:81"},
        Accepted{"AbsoluteFormInCapitals", "GET HTTP://Other/ HTTP/1.1\r\nHost: h\r\n\r\n", "GET",
                 "/", "", true, false, "Other"},
        Accepted{"AbsoluteFormWithoutPath", "GET http://other HTTP/1.1\r\nHost: h\r\n\r\n", "GET",
                 "/", "", true, false, "other"},
        Accepted{"AbsoluteFormWithQueryOnly", "GET http://other?q HTTP/1.1\r\nHost: h\r\n\r\n",
                 "GET", "/?q", "", true, false, "other"},
        Accepted{"AbsoluteFormOfAllServer", "OPTIONS http://other HTTP/1.1\r\nHost: h\r\n\r\n",
                 "OPTIONS", "*", "", true, false, "other"},
        Accepted{"Asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS", "*", ""},
        Accepted{"HostIsIpv6", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET", "/", "", true,
                 false, "[::1]:8080"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(RequestParserTest, SaysOnceThatTheHeadIsDone) {
  RequestParser parser;
  size_t consumed = 0;
  const absl::string_view head =
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  EXPECT_FALSE(parser.head_done());
  ASSERT_EQ(parser.Feed(head, &consumed), Result::kHeadDone);
  EXPECT_EQ(consumed, head.size());
  EXPECT_TRUE(parser.head_done());
  EXPECT_TRUE(parser.wants_continue());
  ASSERT_EQ(parser.Feed("", &consumed), Result::kNeedMore);
  ASSERT_EQ(parser.Feed("a", &consumed), Result::kNeedMore);
  ASSERT_EQ(parser.Feed("bc", &consumed), Result::kDone);
  EXPECT_EQ(consumed, 1u);
  EXPECT_EQ(parser.TakeRequest().body, "ab");
}

TEST(RequestParserTest, CountsTheExtensionsOfEachChunkAlone) {
  const std::string extension(200, 'a');
  const RequestOutcome outcome = ReadRequest(
      Whole(absl::StrCat("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;",
                         extension, "\r\na\r\n1;", extension, "\r\nb\r\n0\r\n\r\n")));
  EXPECT_EQ(outcome.request.body, "ab");
}

TEST(RequestParserTest, TakesNoMemoryForALengthThatIsOnlyAnnounced) {
  for (const absl::string_view framing :
       {"Content-Length: 67108864\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n4000000\r\n"}) {
    const std::string bytes = absl::StrCat("POST / HTTP/1.1\r\nHost: h\r\n", framing, "a");
    const AllocationWatch watch;
    RequestParser parser;
    size_t consumed = 0;
    ASSERT_EQ(parser.Feed(bytes, &consumed), Result::kHeadDone);
    ASSERT_EQ(parser.Feed(absl::string_view(bytes).substr(consumed), &consumed), Result::kNeedMore);
    EXPECT_LT(watch.largest(), 1024u) << framing;
  }
}

}  // namespace
}  // namespace sluice::http
