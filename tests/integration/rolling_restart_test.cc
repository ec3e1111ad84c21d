// Two gateways behind HAProxy are restarted one after the other, and one takes over from another on
// the same port, under load.

#include <atomic>
#include <chrono>
#include <memory>
#include <netinet/in.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/integration/daemon_client.h"
#include "tests/integration/steady_clients.h"
#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

constexpr char kHaproxy[] = "/usr/sbin/haproxy";

/// HAProxy in front of daemons, on a port of the system's choice.
class Balancer {
 public:
  explicit Balancer(std::vector<Daemon*> daemons)
      : listener_(Listen()),
        config_(ConfigFor(daemons)),
        child_({kHaproxy, "-db", "-f", config_.path()}) {
    ::close(listener_);  // HAProxy has it
  }

  uint16_t port() const { return port_; }
  ChildProcess& child() { return child_; }

 private:
  /// Inherited by HAProxy: it cannot say which port it was given.
  int Listen() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd, SOMAXCONN), 0);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    return fd;
  }

  std::string ConfigFor(const std::vector<Daemon*>& daemons) const {
    std::string text = absl::StrCat(
        "defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s\n"
        "listen gateways\n bind fd@",
        listener_,
        "\n balance roundrobin\n option httpchk GET /readyz\n"
        " default-server check inter 100ms fall 1 rise 1\n");
    for (Daemon* daemon : daemons) {
      absl::StrAppend(&text, " server s", daemon->port(), " 127.0.0.2:", daemon->port(), " port ",
                      daemon->admin_port(), "\n");
    }
    return text;
  }

  uint16_t port_ = 0;
  const int listener_;
  const TempFile config_;
  ChildProcess child_;
};

class RollingRestartTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::access(kHaproxy, X_OK) != 0) {
      GTEST_SKIP() << kHaproxy << " is missing; scripts/bootstrap installs it";
    }
    engine_->SetResponder([](const EngineRequest& request) {
      if (!request.stream()) return Script().Json("{}");
      const std::vector<std::string> events(20, ContentEvent("a"));
      return Script()
          .SseHead()
          .Chunks(events, std::chrono::milliseconds(20))
          .Chunk(kDoneEvent)
          .LastChunk();
    });
  }

  /// On an address of their own: there, nobody's outgoing connection takes a port between an end
  /// and the next start. The grace is long against HAProxy's interval, on a loaded machine too.
  std::unique_ptr<Daemon> StartDaemon(int listen = 0, int admin = 0) {
    return std::make_unique<Daemon>(std::vector<std::string>{
        absl::StrCat("--config=", config_.path()), absl::StrCat("--listen=127.0.0.2:", listen),
        absl::StrCat("--admin=127.0.0.2:", admin), "--drain_grace=3s"});
  }

  static bool Serves(Daemon& daemon) { return daemon.child().WaitForErr("cause=completed"); }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  const TempFile config_{ConfigFor(engine_->uri())};
};

TEST_F(RollingRestartTest, FailsNoRequestAndBreaksNoStream) {
  std::vector<std::unique_ptr<Daemon>> daemons;
  for (int i = 0; i < 2; ++i) daemons.push_back(StartDaemon());
  Balancer balancer({daemons[0].get(), daemons[1].get()});
  ASSERT_TRUE(Eventually([&] { return Ask(balancer.port(), ChatRequest(false)).status == 200; }))
      << balancer.child().err();
  SteadyClients streams(balancer.port(), ChatRequest(true), 8);
  SteadyClients others(balancer.port(), ChatRequest(false), 4);
  for (std::unique_ptr<Daemon>& daemon : daemons) {
    ASSERT_TRUE(Serves(*daemon));
    const int port = daemon->port();
    const int admin_port = daemon->admin_port();
    daemon->child().Signal(SIGTERM);
    ASSERT_EQ(daemon->child().WaitForExit(), 0) << daemon->child().err();
    EXPECT_FALSE(absl::StrContains(daemon->child().err(), "cause=drained"));
    daemon = StartDaemon(port, admin_port);
    ASSERT_TRUE(Serves(*daemon)) << "HAProxy takes it back";
    ASSERT_TRUE(streams.WaitForMore());
    ASSERT_TRUE(others.WaitForMore());
  }
  streams.Stop();
  others.Stop();
  EXPECT_EQ(streams.failed(), 0);
  EXPECT_EQ(others.failed(), 0);
}

/// Clients that come with one request each, one after another.
class OneRequestClients {
 public:
  explicit OneRequestClients(uint16_t port) {
    for (int i = 0; i < 4; ++i) threads_.emplace_back([this, port] { Run(port); });
  }
  ~OneRequestClients() { Stop(); }

  bool WaitForMore() {
    const int before = served_;
    return Eventually([&] { return served_ > before + 20; });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  int failed() const { return failed_; }

 private:
  void Run(uint16_t port) {
    while (!stop_) {
      absl::StatusOr<RawClient> client = RawClient::Connect(port);
      const bool sent = client.ok() && client->Send(ChatRequest(false)).ok();
      const bool served = sent && client->ReadResponse().value_or(RawResponse()).status == 200;
      ++(served ? served_ : failed_);
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> served_{0};
  std::atomic<int> failed_{0};
  std::vector<std::thread> threads_;
};

TEST(HandoverTest, RefusesAndResetsNobody) {
  const std::unique_ptr<ScriptedEngine> engine = ScriptedEngine::Start().value();
  engine->SetResponder([](const EngineRequest& request) {
    if (!request.stream()) return Script().Json("{}");
    return Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").Chunk(kDoneEvent).LastChunk();
  });
  const TempFile config(ConfigFor(engine->uri()));
  const std::string with_config = absl::StrCat("--config=", config.path());
  Daemon old({with_config, "--reuse_port", "--drain_grace=1s"});
  RawClient streaming = Connect(old.port());
  ASSERT_TRUE(streaming.Send(ChatRequest()).ok());
  ASSERT_TRUE(streaming.ReadHead().ok());
  RawClient idle = Connect(old.port());
  ASSERT_TRUE(idle.Send(ChatRequest(false)).ok());
  ASSERT_EQ(idle.ReadResponse().value_or(RawResponse()).status, 200);
  OneRequestClients clients(old.port());
  ASSERT_TRUE(clients.WaitForMore());

  Daemon newer({with_config, "--reuse_port", absl::StrCat("--listen=127.0.0.1:", old.port())});
  old.child().Signal(SIGTERM);
  // Closed when the grace is over: then only the stream keeps the old one, which would refuse
  // whoever came.
  ASSERT_TRUE(idle.ReadToEnd().ok());
  ASSERT_TRUE(clients.WaitForMore());
  EXPECT_EQ(clients.failed(), 0) << "while both listened";
  engine->OpenGate("rest");
  EXPECT_EQ(old.child().WaitForExit(), 0);
  EXPECT_TRUE(streaming.ReadToEnd().ok());
  ASSERT_TRUE(clients.WaitForMore());
  clients.Stop();
  EXPECT_EQ(clients.failed(), 0);
  EXPECT_TRUE(newer.child().WaitForErr("cause=completed"));
}

}  // namespace
}  // namespace sluice::testing
