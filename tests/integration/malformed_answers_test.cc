// Answers of upstreams that are not HTTP, or not what they say: each has one outcome, and none
// waits for more than what came.

#include <ostream>
#include <string>
#include <vector>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

const std::string kEvent = ContentEvent("a");
const std::string kWhole = absl::StrCat(kEvent, FinishEvent(), kDoneEvent);

struct Malformed {
  std::string name;
  std::string answer;  // as it is sent
  Cause cause = Cause::kUpstreamProtocol;
  // Of a stream: what passed before it was ended with an error event. Of an answer that completed:
  // its body. Empty for one that never began: the client gets an error instead.
  std::string passed = "";
  enum After { kSilent, kClosed } after = kSilent;

  friend void PrintTo(const Malformed& value, std::ostream* out) { *out << value.name; }
};

class MalformedAnswer : public CaseTest, public ::testing::WithParamInterface<Malformed> {};

TEST_P(MalformedAnswer, HasItsOutcomeAndItsConnectionIsNotUsedAgain) {
  StartOne();
  Script script = Script().Raw(GetParam().answer);
  GetParam().after == Malformed::kSilent ? script.Hold() : script.Fin();
  const Outcome outcome = RunScript(std::move(script));
  if (GetParam().cause == Cause::kCompleted) {
    ExpectPassed(outcome, GetParam().passed);
  } else if (GetParam().passed.empty()) {
    ExpectError(outcome, 502, InfoOf(GetParam().cause).label);
  } else {
    ExpectBrokenOff(outcome, GetParam().passed, GetParam().cause);
  }
  ExpectNoReuse();
}

std::string Repeated(int count, absl::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) absl::StrAppend(&all, text);
  return all;
}

std::string Ok(absl::string_view fields, absl::string_view body = "") {
  return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", fields, "\r\n",
                      body);
}
std::string OneChunk(absl::string_view payload) {
  return absl::StrCat(absl::Hex(payload.size()), "\r\n", payload, "\r\n");
}
/// A stream that ends as `rest` says, at once.
std::string Chunks(absl::string_view rest) { return Ok("Transfer-Encoding: chunked\r\n", rest); }
/// One of which an event has passed by then.
std::string Begun(absl::string_view rest) { return Chunks(absl::StrCat(OneChunk(kEvent), rest)); }

std::string NameOf(const ::testing::TestParamInfo<Malformed>& instance) {
  return instance.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Head, MalformedAnswer,
    ::testing::Values(
        Malformed{"OtherProtocol", "220 mail ready\r\n"},
        Malformed{"Tls", std::string("\x15\x03\x01\x00\x02\x02\x16", 7)},
        Malformed{"Http2", std::string("\x00\x00\x12\x04\x00\x00\x00\x00\x00", 9)},
        Malformed{"Http2InWords", "HTTP/2.0 200 OK\r\n"},
        Malformed{"Json", R"({"choices":[]})"
                          "\n"},
        Malformed{"ShortStatusLine", "HTTP\r\n"},
        Malformed{"EmptyLineFirst", "\r\nHTTP/1.1 200 OK\r\n"},
        Malformed{"NoStatus", "HTTP/1.1 OK\r\n"},
        Malformed{"StatusOfTwoDigits", "HTTP/1.1 20 OK\r\n"},
        Malformed{"StatusOfFourDigits", "HTTP/1.1 2000 OK\r\n"},
        Malformed{"StatusNegative", "HTTP/1.1 -20 OK\r\n"},
        Malformed{"StatusUnder100", "HTTP/1.1 099 OK\r\n\r\n"},
        Malformed{"BareLf", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"},
        Malformed{"BareLfInAField", Ok("X: y\nContent-Length: 2\r\n", "{}")},
        Malformed{"BareCrInAField", Ok("X: a\rb\r\n")},
        Malformed{"Nul", Ok(absl::string_view("X: \0\r\n", 6))},
        Malformed{"ControlByte", Ok("X: \x7f\r\n")}, Malformed{"Folded", Ok("X: a\r\n b\r\n")},
        Malformed{"SpaceBeforeColon", Ok("X : a\r\n")}, Malformed{"NoColon", Ok("X\r\n")},
        Malformed{"EmptyName", Ok(": a\r\n")},
        Malformed{"NameThatIsNoToken", Ok("X\xc3\xa9: a\r\n")},
        Malformed{"StatusLineTooLong", absl::StrCat("HTTP/1.1 200 ", std::string(9000, 'a'))},
        Malformed{"HeadTooLong", Ok(absl::StrCat("X: ", std::string(70000, 'a')))},
        Malformed{"HeadersTooMany", Ok(Repeated(201, "X: y\r\n"))},
        Malformed{"InterimAnswersTooMany", Repeated(11, "HTTP/1.1 103 Early Hints\r\n\r\n")},
        Malformed{"SwitchingProtocols", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"},
        Malformed{"ClosedAtOnce", "", Cause::kUpstreamReset, "", Malformed::kClosed},
        Malformed{"ClosedInTheStatusLine", "HTTP/1.1 2", Cause::kTruncated, "", Malformed::kClosed},
        Malformed{"ClosedInTheHead", "HTTP/1.1 200 OK\r\nX", Cause::kTruncated, "",
                  Malformed::kClosed},
        Malformed{"ClosedBehindAnInterimAnswer", "HTTP/1.1 103 Early Hints\r\n\r\n",
                  Cause::kTruncated, "", Malformed::kClosed}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Framing, MalformedAnswer,
    ::testing::Values(
        Malformed{"ChunkedWithALength", Ok("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")},
        Malformed{"LengthWithChunked", Ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")},
        Malformed{"EqualLengths", Ok("Content-Length: 5\r\nContent-Length: 5\r\n")},
        Malformed{"DifferentLengths", Ok("Content-Length: 5\r\nContent-Length: 6\r\n")},
        Malformed{"LengthList", Ok("Content-Length: 5, 5\r\n")},
        Malformed{"LengthNegative", Ok("Content-Length: -1\r\n")},
        Malformed{"LengthWithPlus", Ok("Content-Length: +5\r\n")},
        Malformed{"LengthExponent", Ok("Content-Length: 1e3\r\n")},
        Malformed{"LengthHex", Ok("Content-Length: 0x5\r\n")},
        Malformed{"LengthEmpty", Ok("Content-Length:\r\n")},
        Malformed{"LengthOver64Bits", Ok("Content-Length: 18446744073709551616\r\n")},
        Malformed{"GzipChunked", Ok("Transfer-Encoding: gzip, chunked\r\n")},
        Malformed{"CodingLikeChunked", Ok("Transfer-Encoding: xchunked\r\n")},
        Malformed{"CodingIdentity", Ok("Transfer-Encoding: identity\r\n")},
        Malformed{"CodingOnTwoLines",
                  Ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
        Malformed{"ChunkedInHttp10",
                  "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    FirstChunk, MalformedAnswer,
    ::testing::Values(Malformed{"SizeMissing", Chunks("\r\n")},
                      Malformed{"SizeWith0x", Chunks("0x3\r\n")},
                      Malformed{"SizeWithPlus", Chunks("+3\r\n")},
                      Malformed{"SizeNegative", Chunks("-3\r\n")},
                      Malformed{"SizeOver64Bits", Chunks("10000000000000003\r\n")},
                      Malformed{"NoCrBehindTheSize", Chunks("3\nabc\r\n")},
                      Malformed{"Closed", Chunks("1"), Cause::kTruncated, "", Malformed::kClosed}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    LaterChunk, MalformedAnswer,
    ::testing::Values(
        Malformed{"SizeMissing", Begun("\r\n"), Cause::kUpstreamProtocol, kEvent},
        Malformed{"SizeNegative", Begun("-3\r\n"), Cause::kUpstreamProtocol, kEvent},
        Malformed{"BareCrBehindTheSize", Begun("3\rabc\r\n"), Cause::kUpstreamProtocol, kEvent},
        Malformed{"DataTooLong", Begun("3\r\n: abc\n\r\n"), Cause::kUpstreamProtocol,
                  absl::StrCat(kEvent, ": a\n\n")},
        Malformed{"DataTooShort", Begun("4\r\n: \n\r\n0\r\n\r\n"), Cause::kUpstreamProtocol,
                  absl::StrCat(kEvent, ": \n\r")},
        Malformed{"ExtensionTooLong", Begun(absl::StrCat("3;", std::string(5000, 'a'))),
                  Cause::kUpstreamProtocol, kEvent},
        Malformed{"TrailersTooLong",
                  Begun(absl::StrCat("0\r\n", Repeated(100, std::string(99, 'a') + "\r\n"))),
                  Cause::kUpstreamProtocol, kEvent},
        Malformed{"BareLfInATrailer", Begun("0\r\nX: a\nY: b\r\n\r\n"), Cause::kUpstreamProtocol,
                  kEvent},
        Malformed{"WrongEnd", Begun("0\r\n\rx"), Cause::kUpstreamProtocol, kEvent},
        Malformed{"ClosedBeforeTheLastChunk", Begun(""), Cause::kTruncated, kEvent,
                  Malformed::kClosed},
        Malformed{"ClosedInTheLastChunk", Begun("0\r\n"), Cause::kTruncated, kEvent,
                  Malformed::kClosed},
        Malformed{"ClosedInATrailer", Begun("0\r\nX: y\r\n"), Cause::kTruncated, kEvent,
                  Malformed::kClosed}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Length, MalformedAnswer,
    ::testing::Values(
        Malformed{"LongerThanTheBody", Ok("Content-Length: 9000000000000000000\r\n", kEvent),
                  Cause::kTruncated, kEvent, Malformed::kClosed},
        Malformed{"ShorterThanTheBody",
                  Ok(absl::StrCat("Content-Length: ", kEvent.size(), "\r\n"), kWhole),
                  Cause::kTruncated, kEvent},
        Malformed{"ZeroWithABody", Ok("Content-Length: 0\r\n", kWhole), Cause::kEmptyAnswer},
        Malformed{"StrayBytesBehindTheBody",
                  Ok(absl::StrCat("Content-Length: ", kWhole.size(), "\r\n"),
                     absl::StrCat(kWhole, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")),
                  Cause::kCompleted, kWhole},
        Malformed{"StrayBytesBehindTheLastChunk",
                  Chunks(absl::StrCat(OneChunk(kWhole), "0\r\n\r\n", OneChunk("poison"))),
                  Cause::kCompleted, kWhole}),
    NameOf);

}  // namespace
}  // namespace sluice::testing
