// The server's own edges: handlers and answers that throw, accept(2) that fails, sockets' options.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/http/server.h"
#include "lib/runtime/loop_threads.h"
#include "tests/support/eventually.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"

namespace {

std::atomic<int> g_accept_errno{0};
std::atomic<int> g_failed_accepts{0};

}  // namespace

/// In the place of the C library's: fails once with g_accept_errno if that is set.
extern "C" int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (const int error = g_accept_errno.exchange(0); error != 0) {
    ++g_failed_accepts;
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
}

namespace sluice::http {
namespace {

using sluice::testing::Eventually;
using sluice::testing::RawClient;
using sluice::testing::RawResponse;
using ::testing::ElementsAre;

constexpr absl::string_view kSecret = "what only the log may say";

using Step = std::function<Answer::Step(ClientSink&)>;

/// Does one of its steps after the other.
class ScriptedAnswer final : public Answer {
 public:
  explicit ScriptedAnswer(std::vector<http::Step> steps, bool ends_connection = false)
      : steps_(std::move(steps)), ends_connection_(ends_connection) {}

  Body body() const override { return Body::kOpen; }
  bool ends_connection() const override { return ends_connection_; }
  /// The last one again and again.
  Step Next(ClientSink& sink) override {
    return steps_[std::min(next_++, steps_.size() - 1)](sink);
  }

 private:
  const std::vector<http::Step> steps_;
  const bool ends_connection_;
  size_t next_ = 0;
};

Step Begin(int status) {
  return [status](ClientSink& sink) {
    ResponseHead head;
    head.status = status;
    sink.WriteHead(head);
    sink.Write("ok", std::chrono::seconds(10));
    return Answer::Step::kMore;
  };
}
/// Writes for as long as anybody takes it.
Answer::Step WriteOn(ClientSink& sink) {
  static const auto& piece = *new std::string(64 << 10, 'x');
  return sink.Write(piece, std::chrono::seconds(10)) == ClientSink::Result::kOk
             ? Answer::Step::kMore
             : Answer::Step::kAbort;
}
Answer::Step End(ClientSink&) { return Answer::Step::kEnd; }
Answer::Step Throw(ClientSink&) { throw std::runtime_error(std::string(kSecret)); }

class FakeHandler final : public Handler {
 public:
  size_t max_body_bytes() const override { return 1000; }
  std::unique_ptr<Answer> Serve(Request request, Instant, Cancellation&) override {
    if (request.target == "/throws") throw std::runtime_error(std::string(kSecret));
    std::vector<Step> steps = {Begin(200), End};
    if (request.target == "/throws-first") steps = {Throw};
    if (request.target == "/throws-later") steps = {Begin(200), Throw};
    if (request.target == "/endless") steps = {Begin(200), WriteOn};
    return std::make_unique<ScriptedAnswer>(std::move(steps));
  }
  std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view, absl::string_view, Instant,
                                 Cancellation&) override {
    return std::make_unique<ScriptedAnswer>(
        std::vector<Step>{Begin(InfoOf(cause).http_status), End},
        /*ends_connection=*/true);
  }
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() { Start({}); }
  ~HttpServerTest() override { Stop(); }

  void Start(const ServerOptions& options) {
    threads_ = std::make_unique<runtime::LoopThreads>(1);
    server_ = std::make_unique<Server>(options, handler_, threads_->loops());
    EXPECT_TRUE(server_->Listen("127.0.0.1:0").ok());
  }
  void Stop() {
    server_->Drain();
    server_->CancelAll(Cause::kDrained);
    threads_->Join();
  }
  void StartAnew(const ServerOptions& options) {
    Stop();
    Start(options);
  }

  RawClient Connect() { return RawClient::Connect(static_cast<uint16_t>(server_->port())).value(); }
  absl::StatusOr<RawResponse> Ask(RawClient& client, absl::string_view target) {
    EXPECT_TRUE(client.Send(sluice::testing::GetRequest(target)).ok());
    return client.ReadResponse();
  }
  void ExpectServes() {
    RawClient client = Connect();
    EXPECT_EQ(Ask(client, "/").value_or(RawResponse()).body, "ok");
  }

  FakeHandler handler_;
  std::unique_ptr<runtime::LoopThreads> threads_;
  std::unique_ptr<Server> server_;
};

TEST_F(HttpServerTest, AnswersForAHandlerThatThrowsAndTellsNobodyWhatItSaid) {
  for (int i = 0; i < 100; ++i) {
    RawClient client = Connect();
    const RawResponse response = Ask(client, "/throws").value_or(RawResponse());
    ASSERT_EQ(response.status, 500);
    ASSERT_EQ(response.head,
              "HTTP/1.1 500 \r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    ASSERT_TRUE(client.ReadToEnd().ok());
    ASSERT_EQ(client.unread(), "");
  }
  ExpectServes();
}

TEST_F(HttpServerTest, ClosesBehindAnAnswerThatThrowsBeforeItsHead) {
  for (int i = 0; i < 100; ++i) {
    RawClient client = Connect();
    ASSERT_FALSE(Ask(client, "/throws-first").ok());
    ASSERT_EQ(client.unread(), "");
  }
  ExpectServes();
}

TEST_F(HttpServerTest, BreaksOffAnAnswerThatThrowsBehindItsHead) {
  for (int i = 0; i < 100; ++i) {
    RawClient client = Connect();
    const RawResponse response = Ask(client, "/throws-later").value_or(RawResponse());
    ASSERT_EQ(response.body, "ok");
    ASSERT_FALSE(response.complete());
  }
  ExpectServes();
}

TEST_F(HttpServerTest, OutlivesWritesToClientsThatResetWithoutIgnoringSigpipe) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);  // httplib's constructor has it ignored
  for (int i = 0; i < 1000; ++i) {
    RawClient client = Connect();
    ASSERT_TRUE(client.Send(sluice::testing::GetRequest("/endless")).ok());
    ASSERT_TRUE(client.ReadHead().ok());
    client.HalfClose();  // a reset behind an end makes EPIPE of the next write, and the signal
    client.Reset();
  }
  EXPECT_TRUE(Eventually([&] { return server_->connections() == 0; }));
  ExpectServes();
  std::signal(SIGPIPE, before);
}

int Threads() {
  using std::filesystem::directory_iterator;
  return static_cast<int>(std::distance(directory_iterator("/proc/self/task"), {}));
}

/// As many as the descriptors of one process carry, two for each.
size_t IdleConnections() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 1000;
#endif
  sluice::testing::RaiseFdLimit();
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return std::min<size_t>(10'000, (limit.rlim_cur - 200) / 2);
}

TEST_F(HttpServerTest, HoldsIdleConnectionsWithoutAThreadEachAndTurnsOneMoreAway) {
  ServerOptions options;
  options.max_connections = IdleConnections();
  options.read.head = std::chrono::hours(1);
  StartAnew(options);
  ExpectServes();
  const int threads = Threads();
  std::vector<RawClient> clients;
  while (clients.size() < options.max_connections) clients.push_back(Connect());
  ASSERT_TRUE(Eventually([&] { return server_->connections() == clients.size(); }));
  EXPECT_EQ(Threads(), threads);

  RawClient one_more = Connect();
  EXPECT_EQ(one_more.ReadResponse().value_or(RawResponse()).status, 503);
  EXPECT_TRUE(one_more.ReadToEnd().ok());
  for (RawClient* client : {&clients.front(), &clients.back()}) {
    EXPECT_EQ(Ask(*client, "/").value_or(RawResponse()).body, "ok");
  }
  clients.clear();
  EXPECT_TRUE(Eventually([&] { return server_->connections() == 0; }));
  ExpectServes();
}

TEST_F(HttpServerTest, CutsACrowdOfSlowHeadsAndBodiesAndServesOthersMeanwhile) {
  ServerOptions options;
  options.read.head = options.read.body_grace = std::chrono::seconds(1);
  StartAnew(options);
  std::vector<RawClient> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(Connect());
    ASSERT_TRUE(slow.back().Send("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n").ok());
    if (i % 2 == 0) slow.back().Send("\r\nabc").IgnoreError();
  }
  for (int i = 0; i < 50; ++i) ExpectServes();
  for (RawClient& client : slow) {
    EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 408);
    EXPECT_TRUE(client.ReadToEnd().ok());
  }
}

class AcceptErrorTest : public HttpServerTest, public ::testing::WithParamInterface<int> {};

TEST_P(AcceptErrorTest, DoesNotEndTheServer) {
  ExpectServes();
  const int before = g_failed_accepts;
  g_accept_errno = GetParam();
  ExpectServes();
  EXPECT_EQ(g_failed_accepts, before + 1);
  EXPECT_EQ(server_->listeners(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, AcceptErrorTest,
                         ::testing::Values(ECONNABORTED, EINTR, ENOBUFS, ENOMEM, EPERM, EPROTO,
                                           ENETDOWN, EHOSTUNREACH, ENOPROTOOPT, ENONET,
                                           EOPNOTSUPP));

TEST_F(HttpServerTest, TellsAClientThatNoDescriptorIsLeft) {
  for (const int error : {EMFILE, ENFILE}) {
    ExpectServes();
    g_accept_errno = error;
    RawClient client = Connect();
    const RawResponse response = Ask(client, "/").value_or(RawResponse());
    EXPECT_EQ(response.status, 503);
    EXPECT_THAT(response.HeaderValues("Retry-After"), ElementsAre("1"));
  }
  ExpectServes();
}

TEST_F(HttpServerTest, DelaysNoSmallWrites) {
  RawClient client = Connect();
  EXPECT_EQ(Ask(client, "/").value_or(RawResponse()).body, "ok");
  int connected = 0;
  for (int fd = 3; fd < 1000; ++fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    sockaddr_in peer{};
    socklen_t peer_size = sizeof peer;
    if (ntohs(address.sin_port) != server_->port() ||
        ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
      continue;
    }
    int no_delay = 0;
    socklen_t option_size = sizeof no_delay;
    ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &option_size);
    EXPECT_EQ(no_delay, 1);
    ++connected;
  }
  EXPECT_EQ(connected, 1);
}

}  // namespace
}  // namespace sluice::http
