#include "lib/http/response_parser.h"

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/http/allocations.h"
#include "tests/http/response_script.h"

namespace sluice::http {
namespace {

using Result = ResponseParser::Result;
using ::testing::ElementsAre;

constexpr absl::string_view kStream =
    "HTTP/1.1 103 Early Hints\r\n"
    "Link: </style.css>\r\n"
    "\r\n"
    "HTTP/1.1 200 Fine\r\n"
    "Set-Cookie: a=1; Expires=Mon, 01 Jan 2035 00:00:00 GMT\r\n"
    "Transfer-Encoding: Chunked\r\n"
    "set-cookie: b=2\r\n"
    "\r\n"
    "D;ext=\"x\"\r\ndata: first\r\n\r\n"
    "0002\r\n\n\n\r\n"
    "e\r\ndata: [DONE]\n\n\r\n"
    "0\r\nX-T: 1\r\nX-U: 2\r\n\r\n";

TEST(ResponseParserTest, ReadsAChunkedStreamBehindAnInterimAnswer) {
  const ResponseOutcome outcome = ReadResponse(Whole(kStream));
  EXPECT_EQ(Describe(outcome),
            "result=3 heads=1 failure=internal \n"
            "1.1 200 Fine\n"
            "Set-Cookie=a=1; Expires=Mon, 01 Jan 2035 00:00:00 GMT\n"
            "Transfer-Encoding=Chunked\n"
            "set-cookie=b=2\n"
            "body=data: first\r\n\n\ndata: [DONE]\n\n\n"
            "leftover=");
  EXPECT_TRUE(outcome.keep_alive);
}

TEST(ResponseParserTest, ReadsTheSameHoweverTheBytesAreCut) {
  const std::string whole = Describe(ReadResponse(Whole(kStream)));
  for (const Pieces& pieces : InTwo(kStream)) {
    ASSERT_EQ(Describe(ReadResponse(pieces)), whole) << pieces.front();
  }
  for (const Pieces& pieces : SomeCuts(kStream)) {
    ASSERT_EQ(Describe(ReadResponse(pieces)), whole);
  }
}

TEST(ResponseParserTest, GivesTheChunksOfOneReadAsOneRun) {
  const ResponseOutcome outcome =
      ReadResponse({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
                    "3\r\nbcd\r\n2\r\nef\r", "\n", "4\r\ng", "hi", "j\r\n0\r\n\r\n"});
  EXPECT_THAT(outcome.runs, ElementsAre("a", "bcdef", "g", "hi", "j"));
  EXPECT_TRUE(outcome.finished_with_last_run);
}

TEST(ResponseParserTest, MovesNoByteOfASingleChunk) {
  ResponseParser parser(false);
  std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  parser.Feed(head.data(), head.size());
  ASSERT_EQ(parser.Next(), Result::kHead);
  ASSERT_EQ(parser.Next(), Result::kNeedMore);
  std::string chunk = "5\r\nhello\r\n";
  parser.Feed(chunk.data(), chunk.size());
  ASSERT_EQ(parser.Next(), Result::kBody);
  EXPECT_EQ(parser.body().data(), chunk.data() + 3);
  EXPECT_EQ(parser.body(), "hello");
  EXPECT_EQ(parser.Next(), Result::kNeedMore);
}

TEST(ResponseParserTest, AllocatesNothingOnceTheHeadIsThere) {
  ResponseParser parser(false);
  std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  parser.Feed(head.data(), head.size());
  ASSERT_EQ(parser.Next(), Result::kHead);
  ASSERT_EQ(parser.Next(), Result::kNeedMore);
  const std::string payload(180, 'x');
  const std::string coded = absl::StrCat("b4\r\n", payload, "\r\nb4\r\n", payload, "\r\nb");
  const std::string rest = absl::StrCat("4\r\n", payload, "\r\n");
  std::string buffer(1024, '\0');

  const AllocationWatch watch;
  for (int read = 0; read < 1000; ++read) {
    const std::string& bytes = read % 2 == 0 ? coded : rest;
    bytes.copy(buffer.data(), bytes.size());
    parser.Feed(buffer.data(), bytes.size());
    ASSERT_EQ(parser.Next(), Result::kBody);
    ASSERT_EQ(parser.Next(), Result::kNeedMore);
  }
  EXPECT_EQ(watch.count(), 0u);
}

TEST(ResponseParserTest, LetsGoOfTheBufferBetweenHeadAndBody) {
  ResponseParser parser(false);
  std::string shared = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n";
  parser.Feed(shared.data(), shared.size());
  ASSERT_EQ(parser.Next(), Result::kHead);
  std::string own(parser.unread());
  EXPECT_EQ(own, "1\r\na\r\n1\r\nb\r\n");
  shared.assign(shared.size(), '?');
  parser.Feed(own.data(), own.size());
  ASSERT_EQ(parser.Next(), Result::kBody);
  EXPECT_EQ(parser.body(), "ab");
}

struct Answer {
  std::string name;
  std::string bytes;
  int status;
  std::string body;
  bool keep_alive = false;
  bool eof = false;  // needed for the end
  bool head_request = false;
  std::string leftover = "";

  friend void PrintTo(const Answer& value, std::ostream* out) { *out << value.bytes; }
};

class AnswerTest : public testing::TestWithParam<Answer> {};

TEST_P(AnswerTest, IsReadTheSameHoweverItIsCut) {
  const Answer& expected = GetParam();
  const auto read = [&expected](const Pieces& pieces) {
    return ReadResponse(pieces, expected.eof, expected.head_request);
  };
  const ResponseOutcome outcome = read(Whole(expected.bytes));
  ASSERT_EQ(outcome.result, Result::kEnd) << Describe(outcome);
  EXPECT_EQ(outcome.heads, 1);
  EXPECT_EQ(outcome.head.status, expected.status);
  EXPECT_EQ(outcome.body, expected.body);
  EXPECT_EQ(outcome.keep_alive, expected.keep_alive);
  EXPECT_EQ(outcome.leftover, expected.leftover);
  for (const Pieces& pieces : SomeCuts(expected.bytes)) {
    ASSERT_EQ(Describe(read(pieces)), Describe(outcome));
  }
}

std::string InterimAnswers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, "HTTP/1.1 100 Continue\r\n\r\n");
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    All, AnswerTest,
    testing::Values(
        Answer{"Length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true},
        Answer{"LengthZero", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", true},
        Answer{"EmptyReason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, "", true},
        Answer{"ConnectionClose",
               "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na", 200, "a"},
        Answer{"EmptyChunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
               200, "", true},
        Answer{"UntilClose", "HTTP/1.1 200 OK\r\n\r\na\r\nb", 200, "a\r\nb", false, true},
        Answer{"UntilCloseAndEmpty", "HTTP/1.1 200 OK\r\n\r\n", 200, "", false, true},
        Answer{"Http10", "HTTP/1.0 200 OK\r\n\r\ndata: a\n\n", 200, "data: a\n\n", false, true},
        Answer{"Http10WithLength", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", 200, "a"},
        Answer{"HeadRequest", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 200, "", true,
               false, true},
        Answer{"HeadRequestChunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200,
               "", true, false, true},
        Answer{"HeadRequestWithoutFraming", "HTTP/1.1 200 OK\r\n\r\n", 200, "", true, false, true},
        Answer{"NoContent", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true},
        Answer{"NotModified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, "",
               true},
        Answer{"ErrorStatus", "HTTP/1.1 529 Overloaded\r\nContent-Length: 2\r\n\r\n{}", 529, "{}",
               true},
        Answer{"TenInterimAnswers",
               InterimAnswers(10) + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", 200, "a",
               true},
        Answer{"StrayBytesBehindChunks",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n5\r\nhello",
               200, "a", false, false, false, "5\r\nhello"},
        Answer{"StrayBytesBehindLength", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", 200, "a",
               false, false, false, "b"}),
    [](const auto& param_info) { return param_info.param.name; });

// A stray byte of a later read is not the parser's to see: `keep_alive` then speaks of what was
// fed.
TEST(ResponseParserTest, KeepsNoConnectionWithStrayBytes) {
  for (const bool stray : {false, true}) {
    ResponseParser parser(false);
    std::string bytes =
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", stray ? "x" : "");
    parser.Feed(bytes.data(), bytes.size());
    ASSERT_EQ(parser.Next(), Result::kHead);
    EXPECT_TRUE(parser.finished());
    EXPECT_EQ(parser.keep_alive(), !stray);
  }
}

TEST(ResponseParserTest, KeepsNoConnectionBeforeTheEnd) {
  ResponseParser parser(false);
  std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  parser.Feed(bytes.data(), bytes.size());
  ASSERT_EQ(parser.Next(), Result::kHead);
  EXPECT_FALSE(parser.finished());
  EXPECT_FALSE(parser.keep_alive());
}

TEST(ResponseParserTest, TellsWhetherAnyByteCame) {
  ResponseParser parser(false);
  EXPECT_EQ(parser.Next(), Result::kNeedMore);
  EXPECT_FALSE(parser.any_bytes());
  std::string bytes = "H";
  parser.Feed(bytes.data(), bytes.size());
  EXPECT_TRUE(parser.any_bytes());
}

}  // namespace
}  // namespace sluice::http
