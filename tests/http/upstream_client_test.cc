#include "lib/http/upstream_client.h"

#include <array>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/http/upstream_dialer.h"
#include "tests/http/upstream_test.h"
#include "tests/support/engine_front.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;

class UpstreamClientTest : public UpstreamTest {
 protected:
  UpstreamClientTest() { engine_->AnswerAll(Script().Json("hello")); }

  size_t Connections() const { return engine_->counts().accepted; }
};

TEST_F(UpstreamClientTest, PutsThePrefixBeforeAndTheQueryBehindTheTarget) {
  const UpstreamAddress address = AddressOf(engine_->uri() + "/v1?api-version=7");
  EXPECT_THAT(Ask(address, "/chat").result, Ended());
  EXPECT_THAT(Ask(address, "/chat?x=1").result, Ended());
  EXPECT_EQ(engine_->requests()[0].target(), "/v1/chat?api-version=7");
  EXPECT_EQ(engine_->requests()[1].target(), "/v1/chat?x=1&api-version=7");
  EXPECT_EQ(Connections(), 1u);
}

TEST_F(UpstreamClientTest, SpeaksToUnixSockets) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/engine.sock";
  const EngineFront front({.engine_port = engine_->port(), .at = path});
  ASSERT_TRUE(front.ok());
  const UpstreamAddress address = AddressOf("unix:" + path + ":/v1?x=1");
  for (int i = 0; i < 2; ++i) {
    const Asked asked = Ask(address);
    EXPECT_THAT(asked.result, Ended());
    EXPECT_EQ(asked.body, "hello");
  }
  EXPECT_EQ(front.connections(), 1u);
  EXPECT_EQ(engine_->requests()[0].target(), "/v1/chat?x=1");
  EXPECT_THAT(engine_->requests()[0].HeaderValues("host"), ElementsAre("localhost"));
}

TEST_F(UpstreamClientTest, SaysWhichUnixSocketIsNotThere) {
  EXPECT_THAT(
      Ask(AddressOf("unix:/nowhere/engine.sock")).result,
      FailsWith(Cause::kConnectFailed, "unix:/nowhere/engine.sock: No such file or directory"));
}

TEST_F(UpstreamClientTest, SpeaksToIpv6Addresses) {
  const EngineFront front({.engine_port = engine_->port(), .at = "::1"});
  if (!front.ok()) GTEST_SKIP() << "this machine has no ::1";
  EXPECT_THAT(Ask(AddressOf(absl::StrCat("http://[::1]:", front.port()))).result, Ended());
  EXPECT_THAT(engine_->requests()[0].HeaderValues("host"),
              ElementsAre(absl::StrCat("[::1]:", front.port())));
}

TEST_F(UpstreamClientTest, ConnectsToTheGivenAddressInPlaceOfTheName) {
  UpstreamAddress address = AddressOf(absl::StrCat("http://engine.invalid:", engine_->port()));
  address.ip = "127.0.0.1";
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_THAT(engine_->requests()[0].HeaderValues("host"),
              ElementsAre(absl::StrCat("engine.invalid:", engine_->port())));
}

TEST_F(UpstreamClientTest, ReusesNoConnectionForAnotherAddressOfTheSameName) {
  UpstreamAddress address = AddressOf(absl::StrCat("http://localhost:", engine_->port()));
  address.ip = "127.0.0.1";
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_EQ(Connections(), 1u);
  address.ip = "";
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_EQ(Connections(), 2u);
}

TEST_F(UpstreamClientTest, SaysWhoRefuses) {
  const RefusingPort nobody;
  UpstreamAddress address = AddressOf(absl::StrCat("http://engine.invalid:", nobody.port()));
  address.ip = "127.0.0.1";
  EXPECT_THAT(Ask(address).result,
              FailsWith(Cause::kConnectFailed, absl::StrCat("engine.invalid:", nobody.port(),
                                                            " at 127.0.0.1: Connection refused")));
}

TEST_F(UpstreamClientTest, CountsTheConnectionsThatExist) {
  EXPECT_EQ(client_.open(), 0u);
  engine_->AnswerAll(Script().Json("hello"));
  const UpstreamAddress address = AddressOf(engine_->uri());
  const OutboundRequest request = {.method = "GET", .target = "/", .headers = {}, .body = {}};
  const Instant deadline = std::chrono::steady_clock::now() + kPatience;
  InFiber([&] {
    const OpenResult one = client_.Open(address, request, deadline);
    EXPECT_EQ(client_.open(), 1u);
    const OpenResult other = client_.Open(address, request, deadline);
    EXPECT_EQ(client_.open(), 2u);
  });
  EXPECT_EQ(client_.open(), 0u) << "neither was read to its end";
  EXPECT_THAT(Ask(address).result, Ended());
  EXPECT_EQ(client_.open(), 1u) << "in the pool";
  EXPECT_EQ(client_.pooled().connections, 1u);
  client_.ClosePools();
  EXPECT_TRUE(Eventually([&] { return client_.open() == 0; }));
}

TEST_F(UpstreamClientTest, CountsNoConnectionThatCouldNotBeMade) {
  const RefusingPort nobody;
  Ask(AddressOf(nobody.uri()));
  EXPECT_EQ(client_.open(), 0u);
}

/// Listens, and lets nobody in: what comes next is not even refused.
class SilentPort {
 public:
  SilentPort() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    for (int& fd : fill_) {
      fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      ::connect(fd, reinterpret_cast<sockaddr*>(&address), size);
    }
  }
  ~SilentPort() {
    for (const int fd : fill_) ::close(fd);
    ::close(listener_);
  }
  int port() const { return port_; }

 private:
  const int listener_;
  std::array<int, 4> fill_{};
  int port_ = 0;
};

class UpstreamDialerTest : public UpstreamTest {
 protected:
  http::SocketAddress Address(int port) {
    std::vector<http::SocketAddress> found;
    http::Resolve(threads_, "127.0.0.1", port, kNever, &found);
    return found.at(0);
  }

  /// Connects to the first of `ports` that is there; the port it got, or 0.
  WaitResult Connect(const std::vector<int>& ports, Duration patience, int* port) {
    WaitResult result;
    InFiber([&] {
      std::vector<http::SocketAddress> addresses;
      for (const int each : ports) addresses.push_back(Address(each));
      std::unique_ptr<http::UpstreamSocket> socket;
      result = dialer_.Connect(addresses, std::chrono::steady_clock::now() + patience, &socket);
      *port = 0;
      if (socket == nullptr) return;
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      ::getpeername(socket->transport().fd(), reinterpret_cast<sockaddr*>(&peer), &size);
      *port = ntohs(peer.sin_port);
    });
    EXPECT_EQ(dialer_.open(), 0u);
    return result;
  }

  http::UpstreamDialer dialer_{threads_};
};

TEST_F(UpstreamDialerTest, TakesTheNextAddressWhenOneRefuses) {
  const RefusingPort nobody;
  int port = 0;
  EXPECT_EQ(Connect({nobody.port(), engine_->port()}, kPatience, &port).kind, WaitResult::kOk);
  EXPECT_EQ(port, engine_->port());
}

TEST_F(UpstreamDialerTest, TakesTheNextAddressWhenOneIsSilent) {
  const SilentPort silent;
  int port = 0;
  EXPECT_EQ(Connect({silent.port(), engine_->port()}, kPatience, &port).kind, WaitResult::kOk);
  EXPECT_EQ(port, engine_->port());
}

TEST_F(UpstreamDialerTest, GivesTheReasonWhenAllRefuse) {
  const RefusingPort one;
  const RefusingPort other;
  int port = 0;
  EXPECT_THAT(Connect({one.port(), other.port()}, kPatience, &port),
              FailsWith(Cause::kConnectFailed, "Connection refused"));
}

TEST_F(UpstreamDialerTest, KeepsTheDeadlineWhenAllAreSilent) {
  const SilentPort one;
  const SilentPort other;
  const RefusingPort nobody;
  int port = 0;
  const auto almost_now = std::chrono::milliseconds(30);
  EXPECT_EQ(Connect({one.port()}, almost_now, &port).kind, WaitResult::kDeadline);
  EXPECT_EQ(Connect({one.port(), other.port()}, almost_now, &port).kind, WaitResult::kDeadline);
  const auto past_the_first = http::UpstreamDialer::kNextAddressAfter + almost_now;
  EXPECT_EQ(Connect({one.port(), nobody.port()}, past_the_first, &port).kind,
            WaitResult::kDeadline);
  EXPECT_EQ(Connect({one.port(), other.port()}, past_the_first, &port).kind, WaitResult::kDeadline);
}

}  // namespace
}  // namespace sluice::testing
