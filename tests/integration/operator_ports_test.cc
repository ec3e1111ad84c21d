// Bytes on the ports of operators that are no calls.

#include <string>

#include "tests/integration/pools_fixture.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;

class OperatorPortsTest : public PoolsTest {
 protected:
  OperatorPortsTest() { StartOne(); }

  grpc::Status AskStatus() {
    grpc::ClientContext context;
    pb::ServerStatus status;
    return observer().GetServerStatus(&context, {}, &status);
  }
};

TEST_F(OperatorPortsTest, TheAdminPortIsAsStrictAsTheDataPort) {
  for (const absl::string_view framing :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n", "Transfer-Encoding : chunked\r\n",
        "X: a\nContent-Length: 3\r\n"}) {
    RawClient client = RawClient::Connect(static_cast<uint16_t>(gateway_->admin_port())).value();
    ASSERT_TRUE(client
                    .Send(absl::StrCat("GET /healthz HTTP/1.1\r\nHost: g\r\n", framing, "\r\nabc",
                                       GetRequest("/metrics")))
                    .ok());
    const RawResponse response = client.ReadResponse().value_or(RawResponse());
    EXPECT_EQ(response.status, 400) << framing;
    EXPECT_THAT(response.HeaderValues("Connection"), ElementsAre("close"));
    EXPECT_TRUE(client.ReadToEnd().ok());
    EXPECT_EQ(client.unread(), "");
  }
}

TEST_F(OperatorPortsTest, TheControlPortOutlivesWhatIsNoCall) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (const std::string& bytes :
       {GetRequest("/healthz"), std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
        std::string(100'000, '\xff'),
        preface + std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x01", 9),
        preface + std::string("\x00\x00\x05\x01\x05\x00\x00\x00\x01\xff\xff\xff\xff\xff", 14),
        preface + std::string("\x00\x00\x08\x06\x00\x00\x00\x00\x00", 9)}) {
    RawClient client = RawClient::Connect(static_cast<uint16_t>(gateway_->control_port())).value();
    client.Send(bytes).IgnoreError();
    client.HalfClose();
    const absl::Status ended = client.ReadToEnd();
    EXPECT_NE(ended.code(), absl::StatusCode::kDeadlineExceeded) << bytes.substr(0, 40);
    EXPECT_TRUE(AskStatus().ok());
  }
}

TEST_F(OperatorPortsTest, TheControlPortRefusesAMessageOverItsLimit) {
  pb::UpdateConfigRequest request;
  request.mutable_config()->set_etag(std::string((16 << 20) + 1, 'e'));
  pb::Config config;
  grpc::ClientContext context;
  EXPECT_EQ(control().UpdateConfig(&context, request, &config).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(AskStatus().ok());
}

}  // namespace
}  // namespace sluice::testing
