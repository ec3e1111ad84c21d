// Requests that are refused: a clear answer, a closed connection, and nothing behind them is run.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "rapidjson/document.h"

#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kMaxBody = 1000;
constexpr absl::string_view kTarget = "/v1/chat/completions";

class RefusalTest : public GatewayFixture {
 protected:
  void StartBoth() {
    engine_ = StartEngine();
    engine_->AnswerAll(Script().Json("{}"));
    config::Config config = ConfigFor(engine_->uri());
    config.limits.max_body_bytes = kMaxBody;
    StartGateway(config, 1);
  }

  /// A refusal in OpenAI's shape, on a connection that the gateway then closes.
  static void ExpectRefusal(RawClient& client, int status, absl::string_view code) {
    const absl::StatusOr<RawResponse> response = client.ReadResponse();
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->status, status);
    EXPECT_TRUE(response->complete());
    EXPECT_THAT(response->HeaderValues("Connection"), ElementsAre("close"));
    EXPECT_THAT(response->HeaderValues("Content-Type"), ElementsAre("application/json"));
    rapidjson::Document body;
    body.Parse(response->body.data(), response->body.size());
    ASSERT_FALSE(body.HasParseError()) << response->body;
    ASSERT_TRUE(body.IsObject() && body.HasMember("error") && body["error"].IsObject());
    const auto& error = body["error"];
    EXPECT_TRUE(error["message"].IsString() && error["message"].GetStringLength() > 0);
    EXPECT_STREQ(error["type"].GetString(), "invalid_request_error");
    EXPECT_EQ(error["code"].GetString(), code);
    EXPECT_TRUE(error.HasMember("param"));
    EXPECT_TRUE(client.ReadToEnd().ok());
    EXPECT_EQ(client.unread(), "") << "one answer, whatever came behind the request";
  }

  void ExpectStillServes() {
    EXPECT_EQ(engine_->counts().requests, 0u);
    EXPECT_EQ(Exchange(ChatRequest(false)).status, 200);
    EXPECT_TRUE(Eventually([&] { return gateway_->in_flight() == 0; }));
  }
};

struct Refused {
  std::string name;
  std::string bytes;
  int status = 400;
  std::string code = "bad_request";

  friend void PrintTo(const Refused& value, std::ostream* out) { *out << value.name; }
};

class RefusedRequest : public RefusalTest, public ::testing::WithParamInterface<Refused> {};

const std::string& Canary() {
  static const auto& request = *new std::string(ChatRequest(false, "X-Canary: 1\r\n"));
  return request;
}

TEST_P(RefusedRequest, IsTheLastOfItsConnection) {
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(GetParam().bytes + Canary()).ok());
  ExpectRefusal(client, GetParam().status, GetParam().code);
  ExpectStillServes();
}

TEST_P(RefusedRequest, IsTheLastEvenIfAnotherFollowsLater) {
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(GetParam().bytes).ok());
  ASSERT_TRUE(
      client
          .ReadUntil([](absl::string_view unread) { return absl::StrContains(unread, "\r\n\r\n"); })
          .ok());
  // It may be closed by now.
  client.Send(Canary()).IgnoreError();
  ExpectRefusal(client, GetParam().status, GetParam().code);
  ExpectStillServes();
}

std::string Head(absl::string_view headers) {
  return absl::StrCat("POST ", kTarget, " HTTP/1.1\r\nHost: g\r\n", headers, "\r\n");
}
/// A request with these headers and three bytes of body.
std::string WithBody(absl::string_view headers) { return absl::StrCat(Head(headers), "abc"); }
std::string WithChunks(absl::string_view chunks) {
  return absl::StrCat(Head("Transfer-Encoding: chunked\r\n"), chunks);
}
std::string Repeated(int count, absl::string_view line) {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, line);
  return text;
}

std::string NameOf(const ::testing::TestParamInfo<Refused>& instance) {
  return instance.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    NotHttp, RefusedRequest,
    ::testing::Values(Refused{"OtherProtocol", "EHLO mail.test\r\n"},
                      Refused{"Tls",
                              std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)},
                      Refused{"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
                      Refused{"Http09", "GET /\r\n"},
                      Refused{"OtherVersion", "GET / HTTP/3.0\r\nHost: g\r\n\r\n"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Line, RefusedRequest,
    ::testing::Values(
        Refused{"DoubleSpace", absl::StrCat("POST  ", kTarget, " HTTP/1.1\r\nHost: g\r\n\r\n")},
        Refused{"TrailingSpace", absl::StrCat("POST ", kTarget, " HTTP/1.1 \r\nHost: g\r\n\r\n")},
        Refused{"TooLong",
                absl::StrCat("POST /", std::string(9000, 'a'), " HTTP/1.1\r\nHost: g\r\n\r\n"), 414,
                "uri_too_long"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedRequest,
    ::testing::Values(
        Refused{"OneHundredAndOne", Head(Repeated(100, "X: y\r\n")), 431, "head_too_large"},
        Refused{"FiveThousand", Head(Repeated(5000, "X: y\r\n")), 431, "head_too_large"},
        Refused{"LineOver8KiB", Head(absl::StrCat("X: ", std::string(9000, 'a'), "\r\n")), 431,
                "head_too_large"},
        Refused{"HeadOver32KiB",
                Head(Repeated(5, absl::StrCat("X: ", std::string(7000, 'a'), "\r\n"))), 431,
                "head_too_large"},
        Refused{"B104_SpaceBeforeColon", WithBody("X-A : v\r\nContent-Length: 3\r\n")},
        Refused{"NoColon", WithBody("X-A\r\nContent-Length: 3\r\n")},
        Refused{"EmptyName", WithBody(": v\r\nContent-Length: 3\r\n")},
        Refused{"B104_Folded", WithBody("X-A: v\r\n w\r\nContent-Length: 3\r\n")},
        Refused{"B104_BareLf", WithBody("X-A: v\nContent-Length: 3\r\n")},
        Refused{"BareCr", WithBody("X-A: v\rw\r\nContent-Length: 3\r\n")},
        Refused{"B104_Nul", WithBody(absl::string_view("X-A: v\0\r\n", 9))},
        Refused{"BareLfBeforeTransferEncoding",
                WithBody("Content-Length: 3\r\nX-A: v\nTransfer-Encoding: chunked\r\n")},
        Refused{"BareLfEverywhere",
                absl::StrCat("POST ", kTarget, " HTTP/1.1\nHost: g\nContent-Length: 3\n\nabc")},
        Refused{"B103_NoHost",
                absl::StrCat("POST ", kTarget, " HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")},
        Refused{"B103_TwoHosts", WithBody("Host: h\r\nContent-Length: 3\r\n")},
        Refused{"B103_HostWithUser",
                absl::StrCat("POST ", kTarget, " HTTP/1.1\r\nHost: a@b\r\n\r\n")}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Framing, RefusedRequest,
    ::testing::Values(
        Refused{"B104_LengthAndChunked",
                WithBody("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")},
        Refused{"ChunkedAndLengthZero",
                WithBody("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")},
        Refused{"ChunkedAndLengthOfLetters",
                WithBody("Transfer-Encoding: chunked\r\nContent-Length: abc\r\n")},
        Refused{"EqualLengths", WithBody("Content-Length: 3\r\nContent-Length: 3\r\n")},
        Refused{"B104_TwoLengths", WithBody("Content-Length: 3\r\nContent-Length: 4\r\n")},
        Refused{"LengthWithPlus", WithBody("Content-Length: +3\r\n")},
        Refused{"LengthList", WithBody("Content-Length: 3, 3\r\n")},
        Refused{"LengthWithLetter", WithBody("Content-Length: 3a\r\n")},
        Refused{"LengthHex", WithBody("Content-Length: 0x3\r\n")},
        Refused{"LengthOver64Bits", WithBody("Content-Length: 18446744073709551617\r\n")},
        Refused{"LengthNegative", WithBody("Content-Length: -3\r\n")},
        Refused{"LengthEmpty", WithBody("Content-Length:\r\n")},
        Refused{"UnknownCoding", WithBody("Transfer-Encoding: gzip\r\n")},
        Refused{"CodingLikeChunked", WithBody("Transfer-Encoding: xchunked\r\n")},
        Refused{"ChunkedTwice", WithBody("Transfer-Encoding: chunked, chunked\r\n")},
        Refused{"GzipChunked", WithBody("Transfer-Encoding: gzip, chunked\r\n")},
        Refused{"IdentityThenChunked",
                WithBody("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n")},
        Refused{"ChunkedThenIdentity",
                WithBody("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")},
        Refused{"SpaceBeforeColon", WithBody("Transfer-Encoding : chunked\r\n")},
        Refused{"ChunkedInHttp10",
                absl::StrCat("POST ", kTarget,
                             " HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Chunks, RefusedRequest,
    ::testing::Values(
        Refused{"SizeWith0x", WithChunks("0x3\r\nabc\r\n0\r\n\r\n")},
        Refused{"SizeWithPlus", WithChunks("+3\r\nabc\r\n0\r\n\r\n")},
        Refused{"SizeAfterSpace", WithChunks(" 3\r\nabc\r\n0\r\n\r\n")},
        Refused{"SizeWithLetters", WithChunks("3xyz\r\nabc\r\n0\r\n\r\n")},
        Refused{"BareLfInExtension", WithChunks("3;a\nb\r\nabc\r\n0\r\n\r\n")},
        Refused{"ExtensionOf64KiB",
                WithChunks(absl::StrCat("3;", std::string(65536, 'a'), "\r\nabc\r\n0\r\n\r\n"))},
        Refused{"WrongBytesAfterTheData", WithChunks("3\r\nabcXX0\r\n\r\n")},
        Refused{"Trailer", WithChunks("3\r\nabc\r\n0\r\nX-A: v\r\n\r\n")},
        Refused{"FiveThousandTrailers",
                WithChunks(absl::StrCat("3\r\nabc\r\n0\r\n", Repeated(5000, "X: y\r\n"), "\r\n"))}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Body, RefusedRequest,
    ::testing::Values(
        Refused{"B110_TooLongByItsLength",
                absl::StrCat(Head(absl::StrCat("Content-Length: ", kMaxBody + 1, "\r\n")),
                             std::string(kMaxBody + 1, 'x')),
                413, "body_too_large"},
        Refused{"B110_TooLongByItsChunks",
                WithChunks(absl::StrCat("1f4\r\n", std::string(500, 'x'), "\r\n1f5\r\n",
                                        std::string(501, 'x'), "\r\n0\r\n\r\n")),
                413, "body_too_large"},
        Refused{"NotJson", PostRequest(kTarget, "model=m1")},
        Refused{"NotAnObject", PostRequest(kTarget, "[]")},
        Refused{"NoModel", PostRequest(kTarget, "{}")},
        Refused{"Gzip", PostRequest(kTarget, "\x1f\x8b\x08 zipped", "Content-Encoding: gzip\r\n")},
        Refused{"NeitherLengthNorChunks", Head("")}),
    NameOf);

class BodyLimitTest : public RefusalTest {};

TEST_F(BodyLimitTest, TakesABodyOfTheLimitAndNamesItInTheRefusal) {
  StartBoth();
  std::string body = R"({"model":"m1","pad":")";
  body.append(kMaxBody - body.size() - 2, 'x').append("\"}");
  EXPECT_EQ(Exchange(PostRequest(kTarget, body)).status, 200);
  EXPECT_THAT(Exchange(PostRequest(kTarget, body + " ")).body, HasSubstr("1000"));
}

TEST_F(BodyLimitTest, AnswersBeforeAnAnnouncedBodyCame) {
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Head("Content-Length: 1000000\r\n")).ok());
  ExpectRefusal(client, 413, "body_too_large");
  ExpectStillServes();
}

TEST_F(BodyLimitTest, AsksForNoBodyThatItRefuses) {
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Head("Content-Length: 1000000\r\nExpect: 100-continue\r\n")).ok());
  ExpectRefusal(client, 413, "body_too_large");
}

TEST_F(BodyLimitTest, IsReadByAClientThatStillSends) {
  StartBoth();
  RawClient client = Connect();
  const std::string body(1 << 20, 'x');
  ASSERT_TRUE(client.Send(Head(absl::StrCat("Content-Length: ", body.size(), "\r\n"))).ok());
  // In pieces, most of them after the answer went out: a close with unread bytes would reset it
  // away.
  for (size_t at = 0; at < body.size(); at += 65536) {
    ASSERT_TRUE(client.Send(absl::string_view(body).substr(at, 65536)).ok());
  }
  ExpectRefusal(client, 413, "body_too_large");
  ExpectStillServes();
}

class SlowRequestTest : public RefusalTest {
 protected:
  /// Sends `bytes` one at a time until the gateway answers.
  static void Drip(RawClient& client, absl::string_view bytes) {
    for (const char byte : bytes) {
      if (!client.Send(absl::string_view(&byte, 1)).ok()) return;
      const absl::Status answered = client.ReadUntil(
          [](absl::string_view unread) { return !unread.empty(); }, milliseconds(10));
      if (answered.ok()) return;
    }
    FAIL() << "all of it was taken";
  }
};

TEST_F(SlowRequestTest, B137_AHeadThatDripsInIsRefusedAtItsDeadline) {
  client_reads_.head = milliseconds(100);
  StartBoth();
  RawClient client = Connect();
  Drip(client, Head(Repeated(60, "X-Slow: 1234567890\r\n")));
  ExpectRefusal(client, 408, "request_timeout");
  ExpectStillServes();
}

TEST_F(SlowRequestTest, AConnectionThatSendsNothingIsClosed) {
  client_reads_.head = milliseconds(50);
  StartBoth();
  RawClient client = Connect();
  EXPECT_TRUE(client.ReadToEnd().ok());
  EXPECT_EQ(client.unread(), "");
  ExpectStillServes();
}

TEST_F(SlowRequestTest, ABodyThatDripsInIsRefused) {
  client_reads_.body_grace = milliseconds(100);
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Head("Content-Length: 1000\r\n")).ok());
  Drip(client, std::string(999, 'x'));
  ExpectRefusal(client, 408, "request_timeout");
  ExpectStillServes();
}

TEST_F(SlowRequestTest, ABodyOverItsWholeTimeIsRefusedHoweverFastItComes) {
  client_reads_.body = milliseconds(100);
  client_reads_.body_bytes_per_second = 1;
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(Head("Content-Length: 1000\r\n")).ok());
  Drip(client, std::string(999, 'x'));
  ExpectRefusal(client, 408, "request_timeout");
}

TEST_F(SlowRequestTest, AConnectionWithoutANextRequestIsClosed) {
  client_reads_.keep_alive = milliseconds(50);
  StartBoth();
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(false)).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  EXPECT_TRUE(client.ReadToEnd().ok());
  EXPECT_EQ(client.unread(), "");
}

// What looks like a second request, but is not.
class BodyBytesTest : public RefusalTest {};

TEST_F(BodyBytesTest, ABodyOfGetThatComesLaterIsNotRunAsARequest) {
  StartBoth();
  const std::string body = GetRequest("/canary");
  RawClient client = Connect();
  ASSERT_TRUE(
      client.Send(GetRequest("/v1/models", absl::StrCat("Content-Length: ", body.size(), "\r\n")))
          .ok());
  ASSERT_TRUE(client.Send(body).ok());
  EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
  client.HalfClose();
  EXPECT_TRUE(client.ReadToEnd().ok());
  EXPECT_EQ(client.unread(), "");
  ASSERT_EQ(engine_->requests().size(), 1u);
  EXPECT_EQ(engine_->requests()[0].body, body);
}

TEST_F(BodyBytesTest, ACompressedBodyIsPassedAsItIs) {
  StartBoth();
  const std::string body("\x1f\x8b\x08\x00 zipped \xff", 13);
  EXPECT_EQ(Exchange(PostRequest("/other", body, "Content-Encoding: gzip\r\n")).status, 200);
  EXPECT_EQ(engine_->requests().at(0).body, body);
  EXPECT_THAT(engine_->requests().at(0).HeaderValues("Content-Encoding"), ElementsAre("gzip"));
}

}  // namespace
}  // namespace sluice::testing
