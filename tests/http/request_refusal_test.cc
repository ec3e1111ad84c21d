#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/http/request_parser.h"
#include "tests/http/request_script.h"

namespace sluice::http {
namespace {

using Result = RequestParser::Result;
using ::testing::HasSubstr;

constexpr absl::string_view kCanary = "GET /canary HTTP/1.1\r\nHost: h\r\n\r\n";

int StatusOf(const RequestOutcome& outcome) { return InfoOf(outcome.refusal.cause).http_status; }

struct Refused {
  std::string name;
  std::string bytes;  // followed by a canary unless the refusal must come without one
  int status;
  std::string message;  // part of it

  friend void PrintTo(const Refused& value, std::ostream* out) { *out << value.bytes; }
};

std::string Get(absl::string_view fields) {
  return absl::StrCat("GET / HTTP/1.1\r\nHost: h\r\n", fields, "\r\n");
}

std::string Post(absl::string_view fields, absl::string_view body = "") {
  return absl::StrCat("POST / HTTP/1.1\r\nHost: h\r\n", fields, "\r\n", body);
}

std::string Chunked(absl::string_view body) { return Post("Transfer-Encoding: chunked\r\n", body); }

class RefusedRequestTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedRequestTest, IsRefusedTheSameHoweverItIsCut) {
  const Refused& expected = GetParam();
  const RequestOutcome outcome = ReadRequest(Whole(expected.bytes));
  ASSERT_EQ(outcome.result, Result::kRefused) << Describe(outcome);
  EXPECT_EQ(StatusOf(outcome), expected.status);
  EXPECT_THAT(outcome.refusal.message, HasSubstr(expected.message));
  for (const Pieces& pieces : SomeCuts(expected.bytes)) {
    ASSERT_EQ(ReadRequest(pieces).refusal.message, outcome.refusal.message);
    ASSERT_EQ(StatusOf(ReadRequest(pieces)), StatusOf(outcome));
  }
}

TEST_P(RefusedRequestTest, NeverRunsWhatFollows) {
  RequestParser parser;
  const std::string bytes = absl::StrCat(GetParam().bytes, kCanary, kCanary);
  Result result = Result::kNeedMore;
  for (absl::string_view unread = bytes; result != Result::kRefused;) {
    size_t consumed = 0;
    result = parser.Feed(unread, &consumed);
    unread.remove_prefix(consumed);
    ASSERT_TRUE(result == Result::kRefused || result == Result::kHeadDone);
  }
  size_t consumed = 1;
  EXPECT_EQ(parser.Feed(kCanary, &consumed), Result::kRefused);
  EXPECT_EQ(consumed, 0u);
}

std::string NameOf(const testing::TestParamInfo<Refused>& param_info) {
  return param_info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    RequestLine, RefusedRequestTest,
    testing::Values(
        Refused{"Tls", "\x16\x03\x01\x02", 400, "control byte"},
        Refused{"OtherProtocol", "hello\r\n", 400, "request line"},
        Refused{"Http09", "GET /\r\n", 400, "request line"},
        Refused{"EmptyLineInFront", "\r\n", 400, "method"},
        Refused{"NoMethod", " / HTTP/1.1\r\n", 400, "method"},
        Refused{"BadMethod", "G@T / HTTP/1.1\r\n", 400, "method"},
        Refused{"DoubleSpaceBeforeTarget", "GET  / HTTP/1.1\r\n", 400, "target"},
        Refused{"DoubleSpaceBeforeVersion", "GET /  HTTP/1.1\r\n", 400, "version"},
        Refused{"DoubleSpaceInHttp10", "GET /  HTTP/1.0\r\n", 400, "version"},
        Refused{"TabAsSpace", "GET\t/ HTTP/1.1\r\n", 400, "method"},
        Refused{"TrailingSpace", "GET / HTTP/1.1 \r\n", 400, "version"},
        Refused{"SpaceInTarget", "GET /a b HTTP/1.1\r\n", 400, "version"},
        Refused{"ShortVersion", "GET / HTP\r\n", 400, "start line"},
        Refused{"LowerCaseVersion", "GET / http/1.1\r\n", 400, "version"},
        Refused{"Http12", "GET / HTTP/1.2\r\n", 400, "HTTP/1.2"},
        Refused{"Http20", "GET / HTTP/2.0\r\n", 400, "HTTP/2.0"},
        Refused{"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "HTTP/2 preface"},
        Refused{"BareLf", "GET / HTTP/1.1\n", 400, "LF without CR"},
        Refused{"BareCr", "GET / HTTP/1.1\rHost: h\r\n", 400, "CR without LF"},
        Refused{"Nul", std::string("GET /\0 HTTP/1.1\r\n", 17), 400, "control byte"},
        Refused{"Connect", "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", 400, "CONNECT"},
        Refused{"AuthorityForm", "GET h:443 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "target"},
        Refused{"AsteriskOfGet", "GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400, "OPTIONS"},
        Refused{"Fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400, "fragment"},
        Refused{"HttpsTarget", "GET https://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400, "http://"},
        Refused{"UserInTarget", "GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400,
                "host in the target"},
        Refused{"NoHostInTarget", "GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n", 400,
                "host in the target"},
        Refused{"AbsoluteFormWithoutHost", "GET http://h/ HTTP/1.1\r\n\r\n", 400, "Host: missing"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedRequestTest,
    testing::Values(
        Refused{"BareLf", "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", 400, "LF without CR"},
        Refused{"BareLfBeforeTransferEncoding",
                Post("Content-Length: 3\r\nX: y\nTransfer-Encoding: chunked\r\n"), 400,
                "LF without CR"},
        Refused{"AllLinesWithBareLf", "GET / HTTP/1.1\nHost: h\n\n", 400, "LF without CR"},
        Refused{"BareCr", Get("X: a\rb\r\n"), 400, "CR without LF"},
        Refused{"BareCrAtTheEnd", Get("X: a\r\r\n"), 400, "CR without LF"},
        Refused{"Nul", Get(absl::string_view("X: a\0b\r\n", 8)), 400, "control byte"},
        Refused{"ControlByte", Get("X: a\x7f\r\n"), 400, "control byte"},
        Refused{"Folded", Get("X: a\r\n b\r\n"), 400, "folded"},
        Refused{"FoldedByTab", Get("X: a\r\n\tb\r\n"), 400, "folded"},
        Refused{"FoldedFirst", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400, "folded"},
        Refused{"SpaceBeforeColon", Get("X : y\r\n"), 400, "malformed name"},
        Refused{"SpaceInName", Get("X y: z\r\n"), 400, "malformed name"},
        Refused{"EmptyName", Get(": y\r\n"), 400, "malformed name"},
        Refused{"NoColon", Get("X\r\n"), 400, "no colon"},
        Refused{"NameNotAscii", Get("X\xc3\xa9: y\r\n"), 400, "malformed name"},
        Refused{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400, "Host: missing"},
        Refused{"TwoHosts", Get("Host: h\r\n"), 400, "Host: sent more than once"},
        Refused{"TwoHostsInHttp10", "GET / HTTP/1.0\r\nHost: h\r\nhost: h\r\n\r\n", 400,
                "Host: sent more than once"},
        Refused{"EmptyHost", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, "Host: malformed"},
        Refused{"HostWithUser", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400, "Host: malformed"},
        Refused{"HostWithPath", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "Host: malformed"},
        Refused{"HostList", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, "Host: malformed"},
        Refused{"Http10WithBadHost", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n", 400, "Host: malformed"},
        Refused{"ExpectOther", Post("Expect: 200-ok\r\nContent-Length: 1\r\n"), 400, "Expect"},
        Refused{"ExpectSecondOther", Post("Expect: 100-continue\r\nExpect: x\r\n"), 400, "Expect"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Framing, RefusedRequestTest,
    testing::Values(
        Refused{"LengthThenChunked", Post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
                400, "Transfer-Encoding"},
        Refused{"ChunkedThenLength", Post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
                400, "Content-Length"},
        Refused{"ChunkedWithLengthZero",
                Post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400, "Content-Length"},
        Refused{"UnknownCodingWithLength", Post("Transfer-Encoding: x\r\nContent-Length: 3\r\n"),
                400, "together with Content-Length"},
        Refused{"ChunkedWithLengthOfLetters",
                Post("Transfer-Encoding: chunked\r\nContent-Length: abc\r\n"), 400,
                "Content-Length"},
        Refused{"EqualLengths", Post("Content-Length: 3\r\nContent-Length: 3\r\n"), 400,
                "Content-Length: sent more than once"},
        Refused{"DifferentLengths", Post("Content-Length: 3\r\nContent-Length: 4\r\n"), 400,
                "Content-Length"},
        Refused{"LengthWithPlus", Post("Content-Length: +3\r\n"), 400, "Content-Length"},
        Refused{"LengthNegative", Post("Content-Length: -1\r\n"), 400, "Content-Length"},
        Refused{"LengthList", Post("Content-Length: 3, 3\r\n"), 400, "Content-Length"},
        Refused{"LengthWithLetter", Post("Content-Length: 3a\r\n"), 400, "Content-Length"},
        Refused{"LengthHex", Post("Content-Length: 0x3\r\n"), 400, "Content-Length"},
        Refused{"LengthExponent", Post("Content-Length: 1e3\r\n"), 400, "Content-Length"},
        Refused{"LengthWithSpaceInside", Post("Content-Length: 3 3\r\n"), 400, "Content-Length"},
        Refused{"LengthEmpty", Post("Content-Length:\r\n"), 400, "Content-Length"},
        Refused{"LengthOver64Bits", Post("Content-Length: 18446744073709551617\r\n"), 400,
                "Content-Length"},
        Refused{"UnknownCoding", Post("Transfer-Encoding: gzip\r\n"), 400, "Transfer-Encoding"},
        Refused{"CodingLikeChunked", Post("Transfer-Encoding: xchunked\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"Identity", Post("Transfer-Encoding: identity\r\n"), 400, "Transfer-Encoding"},
        Refused{"ChunkedTwice", Post("Transfer-Encoding: chunked, chunked\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"GzipChunked", Post("Transfer-Encoding: gzip, chunked\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"ChunkedAndComma", Post("Transfer-Encoding: chunked,\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"ChunkedWithParameter", Post("Transfer-Encoding: chunked;q=1\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"ChunkedQuoted", Post("Transfer-Encoding: \"chunked\"\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"CodingEmpty", Post("Transfer-Encoding:\r\n"), 400, "Transfer-Encoding"},
        Refused{"IdentityThenChunked",
                Post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"ChunkedThenIdentity",
                Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), 400,
                "Transfer-Encoding"},
        Refused{"SpaceBeforeColon", Post("Transfer-Encoding : chunked\r\n"), 400, "malformed name"},
        Refused{"ChunkedInHttp10",
                "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
                "HTTP/1.0"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Chunks, RefusedRequestTest,
    testing::Values(Refused{"SizeWith0x", Chunked("0x3\r\n"), 400, "chunk size"},
                    Refused{"SizeWithPlus", Chunked("+3\r\n"), 400, "chunk size"},
                    Refused{"SizeNegative", Chunked("-1\r\n"), 400, "chunk size"},
                    Refused{"SizeAfterSpace", Chunked(" 3\r\n"), 400, "chunk size"},
                    Refused{"SizeBeforeSpace", Chunked("3 \r\n"), 400, "chunk size"},
                    Refused{"SizeWithLetters", Chunked("3xyz\r\n"), 400, "chunk size"},
                    Refused{"SizeEmpty", Chunked("\r\n"), 400, "chunk size"},
                    Refused{"SizeMissing", Chunked(";a=b\r\n"), 400, "chunk size"},
                    Refused{"SizeOf17Digits", Chunked("00000000000000003\r\n"), 400, "chunk size"},
                    Refused{"SizeOf64Bits", Chunked("ffffffffffffffff\r\n"), 413, "67108864"},
                    Refused{"BareLfAfterSize", Chunked("3\nabc\r\n"), 400, "chunk size"},
                    Refused{"BareCrAfterSize", Chunked("3\rabc\r\n"), 400, "chunk line"},
                    Refused{"BareLfInExtension", Chunked("3;a\nabc\r\n"), 400, "chunk extension"},
                    Refused{"NulInExtension", Chunked(absl::string_view("3;a\0\r\n", 6)), 400,
                            "chunk extension"},
                    Refused{"DataTooLong", Chunked("3\r\nabcd\r\n"), 400, "chunk data"},
                    Refused{"DataEndsWithLf", Chunked("3\r\nabc\n"), 400, "chunk data"},
                    Refused{"DataEndsWithCr", Chunked("3\r\nabc\r0\r\n"), 400, "chunk data"},
                    Refused{"Trailer", Chunked("0\r\nX: y\r\n\r\n"), 400, "trailer: not accepted"},
                    Refused{"WrongEnd", Chunked("0\r\n\rX"), 400, "chunk line"},
                    Refused{"BareLfAsEnd", Chunked("0\r\n\n"), 400, "trailer"}),
    NameOf);

/// One byte, line or header more than what passes is refused; what passes is made by `make(limit)`.
struct Limit {
  std::string name;
  std::string (*make)(size_t);
  size_t limit;
  int status;
  Cause cause;
  std::string message;

  friend void PrintTo(const Limit& value, std::ostream* out) { *out << value.name; }
};

class RequestLimitTest : public testing::TestWithParam<Limit> {};

TEST_P(RequestLimitTest, HoldsToTheByte) {
  const Limit& limit = GetParam();
  const std::string at_limit = limit.make(limit.limit);
  EXPECT_EQ(ReadRequest(Whole(at_limit)).result, Result::kDone);
  EXPECT_EQ(ReadRequest(ByteByByte(at_limit)).result, Result::kDone);
  const std::string over = limit.make(limit.limit + 1);
  for (const Pieces& pieces : {Whole(over), ByteByByte(over)}) {
    const RequestOutcome outcome = ReadRequest(pieces);
    ASSERT_EQ(outcome.result, Result::kRefused);
    EXPECT_EQ(StatusOf(outcome), limit.status);
    EXPECT_EQ(outcome.refusal.cause, limit.cause);
    EXPECT_THAT(outcome.refusal.message, HasSubstr(limit.message));
  }
}

std::string RequestLineOf(size_t bytes) {
  return absl::StrCat("GET /", std::string(bytes - 14, 'a'), " HTTP/1.1\r\nHost: h\r\n\r\n");
}
std::string HeaderLineOf(size_t bytes) {
  return Get(absl::StrCat("X: ", std::string(bytes - 3, 'a'), "\r\n"));
}
std::string HeadOf(size_t bytes) {
  std::string fields;
  for (int i = 0; i < 7; ++i) {
    absl::StrAppend(&fields, "X: ", std::string(4000, 'a'), "\r\n");
  }
  const size_t without_filler = Get(fields).size() + 5;
  return Get(absl::StrCat(fields, "Y: ", std::string(bytes - without_filler, 'a'), "\r\n"));
}
std::string HeadersOf(size_t count) {
  std::string fields;
  for (size_t i = 1; i < count; ++i) absl::StrAppend(&fields, "X: y\r\n");
  return Get(fields);
}
std::string ExtensionOf(size_t bytes) {
  return Chunked(absl::StrCat("1;", std::string(bytes, 'a'), "\r\na\r\n0\r\n\r\n"));
}

INSTANTIATE_TEST_SUITE_P(
    All, RequestLimitTest,
    testing::Values(Limit{"RequestLine", RequestLineOf, 8192, 414, Cause::kUriTooLong, "8192"},
                    Limit{"HeaderLine", HeaderLineOf, 8192, 431, Cause::kHeadTooLarge, "8192"},
                    Limit{"Head", HeadOf, 32768, 431, Cause::kHeadTooLarge, "32768"},
                    Limit{"Headers", HeadersOf, 100, 431, Cause::kHeadTooLarge, "100"},
                    Limit{"ChunkExtension", ExtensionOf, 256, 400, Cause::kBadRequest,
                          "chunk extension"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(RequestBodyLimitTest, RefusesByLengthBeforeTheBody) {
  const RequestParser::Limits limits = {.max_body_bytes = 10};
  EXPECT_EQ(ReadRequest(Whole(Post("Content-Length: 10\r\n", "0123456789")), limits).result,
            Result::kDone);
  const RequestOutcome outcome = ReadRequest(Whole(Post("Content-Length: 11\r\n")), limits);
  ASSERT_EQ(outcome.result, Result::kRefused);
  EXPECT_EQ(outcome.heads, 0);
  EXPECT_EQ(StatusOf(outcome), 413);
  EXPECT_EQ(outcome.refusal.cause, Cause::kBodyTooLarge);
  EXPECT_THAT(outcome.refusal.message, HasSubstr("limit of 10 bytes"));
}

TEST(RequestBodyLimitTest, RefusesByTheChunkSizeThatIsTooMuch) {
  const RequestParser::Limits limits = {.max_body_bytes = 10};
  EXPECT_EQ(ReadRequest(Whole(Chunked("6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n")), limits).result,
            Result::kDone);
  const std::string over = Chunked("6\r\n012345\r\n5\r\n");
  for (const Pieces& pieces :
       {Whole(over), ByteByByte(over), Whole(over + "6"), Whole(over + "6789a\r\n")}) {
    const RequestOutcome outcome = ReadRequest(pieces, limits);
    ASSERT_EQ(outcome.result, Result::kRefused);
    EXPECT_EQ(StatusOf(outcome), 413);
    EXPECT_THAT(outcome.refusal.message, HasSubstr("limit of 10 bytes"));
  }
}

}  // namespace
}  // namespace sluice::http
