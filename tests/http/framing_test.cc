#include "lib/http/framing.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace sluice::http {
namespace {

HeaderList With(absl::string_view name, absl::string_view value) {
  HeaderList headers;
  headers.Add(name, value);
  return headers;
}

TEST(FramingTest, TakesALengthOfDigitsOnly) {
  const auto framing = FramingOf(With("content-length", "18446744073709551615"), 1);
  ASSERT_TRUE(framing.ok());
  EXPECT_EQ(framing->kind, BodyFraming::kLength);
  EXPECT_EQ(framing->length, 18446744073709551615u);
  for (const absl::string_view text :
       {"", "+3", "-3", " 3", "3 ", "3,3", "0x3", "3a", "18446744073709551616"}) {
    const absl::Status status = FramingOf(With("Content-Length", text), 1).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
  }
}

TEST(FramingTest, TakesChunkedAloneInAnyCase) {
  const auto framing = FramingOf(With("transfer-encoding", "CHUNKED"), 1);
  ASSERT_TRUE(framing.ok());
  EXPECT_EQ(framing->kind, BodyFraming::kChunked);
  for (const absl::string_view text :
       {"", "chunked,", ",chunked", "gzip, chunked", "chunked;a=b"}) {
    const absl::Status status = FramingOf(With("Transfer-Encoding", text), 1).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
  }
  for (const absl::string_view text : {"gzip", "identity", "xchunked"}) {
    const absl::Status status = FramingOf(With("Transfer-Encoding", text), 1).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << text;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(FramingOf(With("Transfer-Encoding", "chunked"), 0).status()));
}

TEST(FramingTest, TakesOneFieldOfTheTwo) {
  EXPECT_EQ(FramingOf({}, 1)->kind, BodyFraming::kUnspecified);
  for (const absl::string_view first : {"Content-Length", "Transfer-Encoding"}) {
    for (const absl::string_view second : {"Content-Length", "Transfer-Encoding"}) {
      HeaderList headers = With(first, first == "Content-Length" ? "3" : "chunked");
      headers.Add(second, second == "Content-Length" ? "3" : "chunked");
      EXPECT_TRUE(absl::IsInvalidArgument(FramingOf(headers, 1).status())) << first << second;
    }
  }
}

}  // namespace
}  // namespace sluice::http
