// Handshakes with upstreams: who is trusted, what each side is told, and what is said when they
// fail.

#include "tests/http/upstream_tls_test.h"

#include <atomic>
#include <chrono>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "absl/strings/match.h"

#include "lib/base/log.h"
#include "tests/support/eventually.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;

/// Answers what its first client says first with these bytes, whatever it was, and closes; with
/// nullopt it takes connections and is silent.
class OneAnswer {
 public:
  explicit OneAnswer(std::optional<std::string> answer)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::listen(listener_, 1), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.sin_port);
    if (!answer.has_value()) return;
    thread_ = std::thread([this, text = *answer] {
      const int client = ::accept(listener_, nullptr, nullptr);
      char hello[4096];
      EXPECT_GT(::recv(client, hello, sizeof hello, 0), 0);
      ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
      ::close(client);
    });
  }
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
    ::close(listener_);
  }
  std::string uri() const { return absl::StrCat("https://127.0.0.1:", port_); }

 private:
  const int listener_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(UpstreamTlsTest, AsksForTheNameOfTheAddressAndForHttp11) {
  Serve();
  EXPECT_THAT(Ask(Address()).result, Ended());
  ASSERT_EQ(front_->handshakes().size(), 1u);
  EXPECT_EQ(front_->handshakes()[0].server_name, "localhost");
  EXPECT_EQ(front_->handshakes()[0].protocol, "http/1.1");
  EXPECT_THAT(engine_->requests()[0].HeaderValues("host"),
              ElementsAre(absl::StrCat("localhost:", front_->port())));
}

TEST_F(UpstreamTlsTest, AsksForTheServerNameOfTheOptionsInstead) {
  Serve({.identity = authority_.Issue("server", "DNS:engine.test")});
  UpstreamAddress address = Address("localhost");
  address.tls.server_name = "engine.test";
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_EQ(front_->handshakes()[0].server_name, "engine.test");
  EXPECT_THAT(engine_->requests()[0].HeaderValues("host"),
              ElementsAre(absl::StrCat("localhost:", front_->port())));
}

TEST_F(UpstreamTlsTest, VerifiesAnAddressAndAsksForNoNameThen) {
  Serve();
  EXPECT_THAT(Ask(Address("127.0.0.1")).result, Ended());
  EXPECT_EQ(front_->handshakes()[0].server_name, "");
}

TEST_F(UpstreamTlsTest, RefusesAnUnknownAuthority) {
  const TestAuthority other("another");
  Serve({.identity = other.IssueForServer()});
  EXPECT_THAT(Ask(Address()).result,
              FailsWith(Cause::kTlsFailed, "unable to get local issuer certificate"));
  UpstreamAddress address = Address();
  address.tls.ca_file = "";
  EXPECT_THAT(Ask(address).result,
              FailsWith(Cause::kTlsFailed, "unable to get local issuer certificate"))
      << "the system does not trust it either";
  EXPECT_EQ(engine_->counts().requests, 0u);
}

TEST_F(UpstreamTlsTest, RefusesACertificateOfAnotherName) {
  Serve({.identity = authority_.Issue("localhost", "DNS:elsewhere.test")});
  EXPECT_THAT(
      Ask(Address()).result,
      FailsWith(Cause::kTlsFailed,
                absl::StrCat("localhost:", front_->port(),
                             " at 127.0.0.1: certificate verify failed: hostname mismatch: it is "
                             "not for localhost")));
}

TEST_F(UpstreamTlsTest, RefusesACertificateOfAnotherAddress) {
  Serve({.identity = authority_.Issue("server", "IP:127.0.0.2,DNS:127.0.0.1")});
  EXPECT_THAT(Ask(Address("127.0.0.1")).result,
              FailsWith(Cause::kTlsFailed, "IP address mismatch: it is not for 127.0.0.1"));
}

TEST_F(UpstreamTlsTest, TakesNoNameOutOfTheSubject) {
  Serve({.identity = authority_.Issue("localhost")});
  EXPECT_THAT(Ask(Address()).result, FailsWith(Cause::kTlsFailed, "hostname mismatch"));
}

TEST_F(UpstreamTlsTest, RefusesAnExpiredCertificate) {
  Serve({.identity = authority_.IssueExpired("server", "DNS:localhost")});
  EXPECT_THAT(Ask(Address()).result,
              FailsWith(Cause::kTlsFailed, "certificate verify failed: certificate has expired"));
}

TEST_F(UpstreamTlsTest, TakesAnyCertificateIfToldTo) {
  const TestAuthority other;
  Serve({.identity = other.IssueExpired("server", "DNS:elsewhere.test")});
  UpstreamAddress address = Address();
  address.tls = {.insecure = true};
  EXPECT_THAT(Ask(address).result, Ended());
}

TEST_F(UpstreamTlsTest, RefusesTlsBefore12) {
  Serve({.version = TLS1_1_VERSION});
  EXPECT_THAT(Ask(Address()).result, FailsWith(Cause::kTlsFailed, "TLS handshake: "));
}

TEST_F(UpstreamTlsTest, SaysThatAPlainUpstreamSpeaksNoTls) {
  const OneAnswer plain("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_THAT(Ask(AddressOf(plain.uri())).result,
              FailsWith(Cause::kTlsFailed, "TLS handshake: wrong version number"));
}

TEST_F(UpstreamTlsTest, SaysThatTheUpstreamClosedDuringTheHandshake) {
  const OneAnswer nothing("");
  EXPECT_THAT(Ask(AddressOf(nothing.uri())).result,
              FailsWith(Cause::kTlsFailed, "closed the connection during the TLS handshake"));
}

TEST_F(UpstreamTlsTest, ShakesHandsBeforeTheDeadline) {
  const OneAnswer silent(std::nullopt);
  const WaitResult result =
      Ask(AddressOf(silent.uri()), "/", "", std::chrono::milliseconds(50)).result;
  EXPECT_EQ(result.kind, WaitResult::kDeadline);
  EXPECT_THAT(result.detail, ::testing::HasSubstr("the TLS handshake did not end in time"));
}

TEST_F(UpstreamTlsTest, SaysWhichFileCannotBeUsed) {
  Serve();
  UpstreamAddress address = Address();
  address.tls.ca_file = "/nowhere/ca.pem";
  EXPECT_THAT(Ask(address).result,
              FailsWith(Cause::kTlsFailed, "ca_file /nowhere/ca.pem: No such file or directory"));
  address = Address();
  address.tls.certificate_file = Write("empty.pem", "");
  address.tls.private_key_file = Write("key.pem", authority_.Issue("gateway").key);
  EXPECT_THAT(Ask(address).result, FailsWith(Cause::kTlsFailed, "empty.pem: no start line"));
  address.tls.certificate_file = Write("gateway.pem", authority_.Issue("gateway").certificate);
  EXPECT_THAT(Ask(address).result, FailsWith(Cause::kTlsFailed, "key.pem: key values mismatch"));
}

TEST_F(UpstreamTlsTest, ShowsItsCertificateToWhoDemandsOne) {
  Serve({.client_authority = authority_.certificate()});
  const TestAuthority::Issued gateway = authority_.Issue("gateway");
  UpstreamAddress address = Address();
  address.tls.certificate_file = Write("gateway.pem", gateway.certificate);
  address.tls.private_key_file = Write("gateway.key", gateway.key);
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_EQ(front_->handshakes()[0].client, "gateway");
}

TEST_F(UpstreamTlsTest, SaysThatACertificateIsDemanded) {
  Serve({.client_authority = authority_.certificate()});
  EXPECT_THAT(Ask(Address()).result, FailsWith(Cause::kTlsFailed, "certificate required"))
      << "TLS 1.3 says so behind the handshake";
  Serve({.client_authority = authority_.certificate(), .version = TLS1_2_VERSION});
  EXPECT_THAT(Ask(Address()).result, FailsWith(Cause::kTlsFailed, "handshake failure"));
  EXPECT_EQ(engine_->counts().requests, 0u);
}

TEST_F(UpstreamTlsTest, ShowsARenewedCertificateSoonAndTheOldOneUntilThen) {
  std::atomic<bool> warned = false;
  SetLogSink([&warned](absl::string_view line) {
    if (absl::StrContains(line, "renewed TLS files cannot be used")) warned = true;
  });
  engine_->AnswerAll(Script().Json("hello", "200 OK", "Connection: close\r\n").Fin());
  Serve({.client_authority = authority_.certificate()});
  const TestAuthority::Issued first = authority_.Issue("first");
  UpstreamAddress address = Address();
  address.tls.certificate_file = Write("gateway.pem", first.certificate);
  address.tls.private_key_file = Write("gateway.key", first.key);
  EXPECT_THAT(Ask(address).result, Ended());

  const TestAuthority::Issued second = authority_.Issue("second");
  Write("gateway.pem", second.certificate);  // which the key does not fit
  EXPECT_TRUE(Eventually([&] {
    EXPECT_THAT(Ask(address).result, Ended());
    return warned.load();
  }));
  EXPECT_EQ(front_->handshakes().back().client, "first");
  Write("gateway.key", second.key);
  EXPECT_TRUE(Eventually([&] {
    EXPECT_THAT(Ask(address).result, Ended());
    return front_->handshakes().back().client == "second";
  }));
  SetLogSink(nullptr);
}

TEST_F(UpstreamTlsTest, ResumesASessionOnANewConnection) {
  engine_->AnswerAll(Script().Json("hello", "200 OK", "Connection: close\r\n").Fin());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Serve({.version = version});
    for (int i = 0; i < 3; ++i) EXPECT_THAT(Ask(Address()).result, Ended());
    const auto handshakes = front_->handshakes();
    ASSERT_EQ(handshakes.size(), 3u);
    EXPECT_FALSE(handshakes[0].resumed);
    EXPECT_TRUE(handshakes[1].resumed);
    EXPECT_TRUE(handshakes[2].resumed);
  }
}

}  // namespace
}  // namespace sluice::testing
