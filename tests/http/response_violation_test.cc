#include <cstddef>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/http/response_parser.h"
#include "tests/http/response_script.h"

namespace sluice::http {
namespace {

using Result = ResponseParser::Result;
using ::testing::HasSubstr;

std::string Ok(absl::string_view fields, absl::string_view body = "") {
  return absl::StrCat("HTTP/1.1 200 OK\r\n", fields, "\r\n", body);
}

std::string Chunked(absl::string_view body) { return Ok("Transfer-Encoding: chunked\r\n", body); }

struct Violation {
  std::string name;
  std::string bytes;
  std::string detail;     // part of it
  std::string body = "";  // what of the body came before it

  friend void PrintTo(const Violation& value, std::ostream* out) { *out << value.bytes; }
};

class ViolationTest : public testing::TestWithParam<Violation> {};

TEST_P(ViolationTest, EndsTheAnswerTheSameHoweverItIsCut) {
  const Violation& expected = GetParam();
  const ResponseOutcome outcome = ReadResponse(Whole(expected.bytes));
  ASSERT_EQ(outcome.result, Result::kError) << Describe(outcome);
  EXPECT_EQ(outcome.failure.cause, Cause::kUpstreamProtocol);
  EXPECT_THAT(outcome.failure.detail, HasSubstr(expected.detail));
  EXPECT_EQ(outcome.body, expected.body);
  for (const Pieces& pieces : SomeCuts(expected.bytes)) {
    ASSERT_EQ(Describe(ReadResponse(pieces)), Describe(outcome));
  }
}

std::string NameOf(const testing::TestParamInfo<Violation>& param_info) {
  return param_info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Head, ViolationTest,
    testing::Values(Violation{"OtherProtocol", "220 mail ready\r\n", "version"},
                    Violation{"ShortStatusLine", "HTTP\r\n", "start line"},
                    Violation{"EmptyLine", "\r\n", "start line"},
                    Violation{"Http2", "HTTP/2.0 200 OK\r\n", "HTTP/2.0"},
                    Violation{"NoStatus", "HTTP/1.1 OK\r\n", "status"},
                    Violation{"ShortStatus", "HTTP/1.1 20 OK\r\n", "status"},
                    Violation{"LongStatus", "HTTP/1.1 2000 OK\r\n", "status"},
                    Violation{"StatusUnder100", "HTTP/1.1 099 OK\r\n\r\n", "below 100"},
                    Violation{"SwitchingProtocols",
                              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "101"},
                    Violation{"BareLf", "HTTP/1.1 200 OK\n", "LF without CR"},
                    Violation{"BareLfInField", "HTTP/1.1 200 OK\r\nX: y\n\r\n", "LF without CR"},
                    Violation{"BareCr", Ok("X: a\rb\r\n"), "CR without LF"},
                    Violation{"Nul", Ok(absl::string_view("X: \0\r\n", 6)), "control byte"},
                    Violation{"Folded", Ok("X: a\r\n b\r\n"), "folded"},
                    Violation{"SpaceBeforeColon", Ok("X : a\r\n"), "malformed name"},
                    Violation{"NoColon", Ok("X\r\n"), "no colon"},
                    Violation{"EmptyName", Ok(": a\r\n"), "malformed name"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Framing, ViolationTest,
    testing::Values(
        Violation{"ChunkedWithLength", Ok("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
                  "Content-Length"},
        Violation{"LengthWithChunked", Ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
                  "Transfer-Encoding"},
        Violation{"EqualLengths", Ok("Content-Length: 5\r\nContent-Length: 5\r\n"),
                  "Content-Length: sent more than once"},
        Violation{"DifferentLengths", Ok("Content-Length: 5\r\nContent-Length: 6\r\n"),
                  "Content-Length"},
        Violation{"LengthList", Ok("Content-Length: 5, 5\r\n"), "Content-Length"},
        Violation{"LengthNegative", Ok("Content-Length: -1\r\n"), "Content-Length"},
        Violation{"LengthExponent", Ok("Content-Length: 1e3\r\n"), "Content-Length"},
        Violation{"LengthEmpty", Ok("Content-Length:\r\n"), "Content-Length"},
        Violation{"GzipChunked", Ok("Transfer-Encoding: gzip, chunked\r\n"), "Transfer-Encoding"},
        Violation{"UnknownCoding", Ok("Transfer-Encoding: xchunked\r\n"), "Transfer-Encoding"},
        Violation{"CodingTwice", Ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                  "Transfer-Encoding"},
        Violation{"ChunkedInHttp10", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                  "HTTP/1.0"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Chunks, ViolationTest,
    testing::Values(
        Violation{"SizeMissing", Chunked("\r\n"), "chunk size"},
        Violation{"SizeWith0x", Chunked("0x3\r\n"), "chunk size"},
        Violation{"SizeWithPlus", Chunked("+3\r\n"), "chunk size"},
        Violation{"SizeNegative", Chunked("-3\r\n"), "chunk size"},
        Violation{"SizeTooLong", Chunked("10000000000000003\r\n"), "chunk size"},
        Violation{"NoCrAfterSize", Chunked("3\nabc\r\n"), "chunk size"},
        Violation{"BareCrAfterSize", Chunked("3\rabc\r\n"), "chunk line"},
        Violation{"DataTooLong", Chunked("3\r\nabcd\r\n"), "chunk data", "abc"},
        Violation{"DataTooShort", Chunked("3\r\nab\r\n0\r\n\r\n"), "chunk data", "ab\r"},
        Violation{"SecondChunkBad", Chunked("1\r\na\r\n1\r\nb\r\nx\r\n"), "chunk size", "ab"},
        Violation{"BareLfInTrailer", Chunked("0\r\nX: a\nY: b\r\n\r\n"), "trailer"},
        Violation{"BareCrInTrailer", Chunked("0\r\nX: a\rb\r\n\r\n"), "trailer"},
        Violation{"WrongEnd", Chunked("0\r\n\rx"), "chunk line"}),
    NameOf);

TEST(ResponseParserTest, RefusesTheEleventhInterimAnswer) {
  std::string bytes;
  for (int i = 0; i < 11; ++i) bytes += "HTTP/1.1 103 Early Hints\r\n\r\n";
  for (const Pieces& pieces : {Whole(bytes), ByteByByte(bytes)}) {
    const ResponseOutcome outcome = ReadResponse(pieces);
    ASSERT_EQ(outcome.result, Result::kError);
    EXPECT_EQ(outcome.failure.cause, Cause::kUpstreamProtocol);
    EXPECT_THAT(outcome.failure.detail, HasSubstr("10 interim"));
  }
}

struct Eof {
  std::string name;
  std::string bytes;
  Cause cause;
  std::string detail;  // part of it

  friend void PrintTo(const Eof& value, std::ostream* out) { *out << value.bytes; }
};

class EofTest : public testing::TestWithParam<Eof> {};

TEST_P(EofTest, IsAFailureWhenItComesTooSoon) {
  for (const Pieces& pieces : {Whole(GetParam().bytes), ByteByByte(GetParam().bytes)}) {
    const ResponseOutcome outcome = ReadResponse(pieces, /*eof=*/true);
    ASSERT_EQ(outcome.result, Result::kError);
    EXPECT_EQ(outcome.failure.cause, GetParam().cause);
    EXPECT_THAT(outcome.failure.detail, HasSubstr(GetParam().detail));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EofTest,
    testing::Values(
        Eof{"Nothing", "", Cause::kUpstreamReset, "before any byte"},
        Eof{"InHead", "HTTP/1.1 200 OK\r\nX", Cause::kTruncated, "head"},
        Eof{"AfterInterim", "HTTP/1.1 103 Early Hints\r\n\r\n", Cause::kTruncated, "head"},
        Eof{"InLength", Ok("Content-Length: 300\r\n", "150 bytes"), Cause::kTruncated, "291 bytes"},
        Eof{"BeforeChunks", Chunked(""), Cause::kTruncated, "last chunk"},
        Eof{"InChunkSize", Chunked("1"), Cause::kTruncated, "last chunk"},
        Eof{"InChunk", Chunked("5\r\nhel"), Cause::kTruncated, "last chunk"},
        Eof{"BetweenChunks", Chunked("5\r\nhello\r\n"), Cause::kTruncated, "last chunk"},
        Eof{"InLastChunk", Chunked("0\r\n"), Cause::kTruncated, "last chunk"},
        Eof{"InTrailer", Chunked("0\r\nX: y\r\n"), Cause::kTruncated, "last chunk"}),
    [](const auto& param_info) { return param_info.param.name; });

/// What passes is made by `make(limit)`; one more is refused.
struct Limit {
  std::string name;
  std::string (*make)(size_t);
  size_t limit;
  std::string detail;

  friend void PrintTo(const Limit& value, std::ostream* out) { *out << value.name; }
};

class ResponseLimitTest : public testing::TestWithParam<Limit> {};

TEST_P(ResponseLimitTest, HoldsToTheByte) {
  const Limit& limit = GetParam();
  const std::string at_limit = limit.make(limit.limit);
  EXPECT_EQ(ReadResponse(Whole(at_limit)).result, Result::kEnd);
  EXPECT_EQ(ReadResponse(ByteByByte(at_limit)).result, Result::kEnd);
  const std::string over = limit.make(limit.limit + 1);
  for (const Pieces& pieces : {Whole(over), ByteByByte(over)}) {
    const ResponseOutcome outcome = ReadResponse(pieces);
    ASSERT_EQ(outcome.result, Result::kError);
    EXPECT_EQ(outcome.failure.cause, Cause::kUpstreamProtocol);
    EXPECT_THAT(outcome.failure.detail, HasSubstr(limit.detail));
  }
}

std::string StatusLineOf(size_t bytes) {
  return absl::StrCat("HTTP/1.1 200 ", std::string(bytes - 13, 'a'),
                      "\r\nContent-Length: 0\r\n\r\n");
}
std::string HeadOf(size_t bytes) {
  const std::string fixed = Ok("Content-Length: 0\r\nX: \r\n");
  return Ok(
      absl::StrCat("Content-Length: 0\r\nX: ", std::string(bytes - fixed.size(), 'a'), "\r\n"));
}
std::string HeadersOf(size_t count) {
  std::string fields = "Content-Length: 0\r\n";
  for (size_t i = 1; i < count; ++i) absl::StrAppend(&fields, "X: y\r\n");
  return Ok(fields);
}
std::string ExtensionOf(size_t bytes) {
  return Chunked(absl::StrCat("1;", std::string(bytes, 'a'), "\r\na\r\n0\r\n\r\n"));
}
std::string TrailersOf(size_t bytes) {
  std::string trailers;
  for (; bytes > 100; bytes -= 100) absl::StrAppend(&trailers, std::string(100, 'a'), "\r\n");
  return Chunked(absl::StrCat("0\r\n", trailers, std::string(bytes, 'a'), "\r\n\r\n"));
}

INSTANTIATE_TEST_SUITE_P(All, ResponseLimitTest,
                         testing::Values(Limit{"StatusLine", StatusLineOf, 8192, "8192"},
                                         Limit{"Head", HeadOf, 65536, "65536"},
                                         Limit{"Headers", HeadersOf, 200, "200"},
                                         Limit{"ChunkExtension", ExtensionOf, 4096, "extension"},
                                         Limit{"Trailers", TrailersOf, 8192, "trailer"}),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace sluice::http
