#include "lib/http/head_writer.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ResponseHead OkHead() {
  ResponseHead head;
  head.status = 200;
  head.reason = "OK";
  return head;
}

TEST(HeadWriterTest, WritesHeadersInOrderWithDuplicates) {
  ResponseHead head = OkHead();
  head.minor_version = 0;
  head.headers.Add("Set-Cookie", "a=1; Expires=Mon, 01 Jan 2035 00:00:00 GMT");
  head.headers.Add("X", "");
  head.headers.Add("set-cookie", "b=2");
  std::string out = "before";
  ASSERT_TRUE(AppendResponseHead(head, /*chunked=*/true, /*keep_alive=*/true, &out).ok());
  EXPECT_EQ(out,
            "beforeHTTP/1.1 200 OK\r\n"
            "Set-Cookie: a=1; Expires=Mon, 01 Jan 2035 00:00:00 GMT\r\n"
            "X: \r\n"
            "set-cookie: b=2\r\n"
            "Transfer-Encoding: chunked\r\n"
            "\r\n");
}

TEST(HeadWriterTest, AnnouncesTheClose) {
  ResponseHead head = OkHead();
  head.reason = "";
  head.headers.Add("Content-Length", "3");
  std::string out;
  ASSERT_TRUE(AppendResponseHead(head, /*chunked=*/false, /*keep_alive=*/false, &out).ok());
  EXPECT_EQ(out, "HTTP/1.1 200 \r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
}

TEST(HeadWriterTest, WritesARequestWithHostAndLength) {
  HeaderList headers;
  headers.Add("Accept-Encoding", "identity");
  std::string out;
  ASSERT_TRUE(AppendRequestHead("POST", "/v1/x?y=%20", "[::1]:9000", headers, 12, &out).ok());
  EXPECT_EQ(out,
            "POST /v1/x?y=%20 HTTP/1.1\r\n"
            "Host: [::1]:9000\r\n"
            "Accept-Encoding: identity\r\n"
            "Content-Length: 12\r\n"
            "\r\n");
}

TEST(HeadWriterTest, LeavesOutALengthThatSaysNothing) {
  for (const absl::string_view method : {"GET", "HEAD", "DELETE"}) {
    std::string out;
    ASSERT_TRUE(AppendRequestHead(method, "/", "h", {}, 0, &out).ok());
    EXPECT_THAT(out, Not(HasSubstr("Content-Length")));
    ASSERT_TRUE(AppendRequestHead(method, "/", "h", {}, 1, &out).ok());
    EXPECT_THAT(out, HasSubstr("Content-Length: 1\r\n"));
  }
  for (const absl::string_view method : {"POST", "PUT", "PATCH"}) {
    std::string out;
    ASSERT_TRUE(AppendRequestHead(method, "/", "h", {}, 0, &out).ok());
    EXPECT_THAT(out, HasSubstr("Content-Length: 0\r\n"));
  }
}

TEST(HeadWriterTest, WritesNoHeaderThatSplitsTheHead) {
  const std::string nul("\0", 1);
  const Header bad[] = {{"X", "a\r\nY: b"}, {"X", "a\nb"},       {"X", "a\rb"},
                        {"X", "a" + nul},   {"X", "\x7f"},       {"", "a"},
                        {"X:", "a"},        {"X Y", "a"},        {"X\r\nY", "a"},
                        {"X" + nul, "a"},   {"Connection", "x"}, {"transfer-encoding", "chunked"}};
  for (const Header& field : bad) {
    ResponseHead head = OkHead();
    head.headers.Add("First", "1");
    head.headers.Add(field.name, field.value);
    std::string out = "before";
    EXPECT_TRUE(absl::IsInternal(AppendResponseHead(head, false, true, &out))) << field.name;
    EXPECT_TRUE(absl::IsInternal(AppendRequestHead("GET", "/", "h", head.headers, 0, &out)));
    EXPECT_EQ(out, "before");
  }
}

TEST(HeadWriterTest, NamesTheHeaderAndNeverItsValue) {
  ResponseHead head = OkHead();
  head.headers.Add("X-Key", "secret\n");
  std::string out;
  const absl::Status status = AppendResponseHead(head, false, true, &out);
  EXPECT_THAT(std::string(status.message()), HasSubstr("X-Key"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
}

TEST(HeadWriterTest, WritesNoStatusLineThatSplitsTheHead) {
  std::string out;
  ResponseHead head = OkHead();
  for (const int status : {0, 99, 1000, -200}) {
    head.status = status;
    EXPECT_TRUE(absl::IsInternal(AppendResponseHead(head, false, true, &out))) << status;
  }
  head.status = 200;
  head.reason = "OK\r\nX: y";
  EXPECT_TRUE(absl::IsInternal(AppendResponseHead(head, false, true, &out)));
  EXPECT_EQ(out, "");
}

TEST(HeadWriterTest, WritesNoLengthBesideChunks) {
  ResponseHead head = OkHead();
  head.headers.Add("content-length", "3");
  std::string out;
  EXPECT_TRUE(absl::IsInternal(AppendResponseHead(head, /*chunked=*/true, true, &out)));
}

TEST(HeadWriterTest, WritesNoRequestLineThatSplitsTheHead) {
  std::string out;
  for (const absl::string_view method : {"", "GET /", "G\r\n"}) {
    EXPECT_TRUE(absl::IsInternal(AppendRequestHead(method, "/", "h", {}, 0, &out))) << method;
  }
  for (const absl::string_view target : {"", "/ HTTP/1.1\r\nX: y", "/a b", "/\n"}) {
    EXPECT_TRUE(absl::IsInternal(AppendRequestHead("GET", target, "h", {}, 0, &out))) << target;
  }
  for (const absl::string_view host : {"", "h\r\nX: y", "u@h"}) {
    EXPECT_TRUE(absl::IsInternal(AppendRequestHead("GET", "/", host, {}, 0, &out))) << host;
  }
  for (const absl::string_view name : {"host", "Content-Length"}) {
    HeaderList headers;
    headers.Add(name, "1");
    EXPECT_TRUE(absl::IsInternal(AppendRequestHead("GET", "/", "h", headers, 0, &out))) << name;
  }
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace sluice::http
