// How the daemon ends on signals, and who notices.

#include <atomic>
#include <cstdlib>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/integration/daemon_client.h"
#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A daemon with one stream under way, of which one event has passed; the next waits at "rest".
class DaemonEndTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> all = {absl::StrCat("--config=", file_.path())};
    all.insert(all.end(), flags.begin(), flags.end());
    daemon_ = std::make_unique<Daemon>(all);
    engine_->Enqueue(
        Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").Chunk(kDoneEvent).LastChunk());
    client_ = std::make_unique<RawClient>(Connect(daemon_->port()));
    ASSERT_TRUE(client_->Send(ChatRequest()).ok());
    ASSERT_TRUE(client_->ReadHead().ok());
    ASSERT_EQ(client_->ReadChunk().value_or(""), ContentEvent("a"));
  }

  void ExpectDrainedEnding() {
    const std::string last = client_->ReadChunk().value_or("nothing");
    EXPECT_THAT(last, AllOf(HasSubstr("data: {\"error\":"), HasSubstr(R"("code":"drained")")));
    EXPECT_EQ(client_->ReadChunk().value_or("nothing"), "");
  }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  TempFile file_{ConfigFor(engine_->uri())};
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<RawClient> client_;
};

TEST_F(DaemonEndTest, B093_LetsARunningStreamEndOnASignal) {
  Start();
  daemon_->child().Signal(SIGTERM);
  ASSERT_TRUE(daemon_->child().WaitForErr("draining"));
  EXPECT_TRUE(
      Eventually([&] { return Ask(daemon_->admin_port(), GetRequest("/readyz")).status == 503; }));
  EXPECT_EQ(Ask(daemon_->admin_port(), GetRequest("/healthz")).status, 200);
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent);
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), "");
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, RefusesNewRequestsInTheirDialectWhileOthersRun) {
  Start();
  daemon_->child().Signal(SIGTERM);
  const auto ask = [&](const std::string& request) { return Ask(daemon_->port(), request); };
  ASSERT_TRUE(Eventually([&] { return ask(ChatRequest()).status == 503; }));
  const RawResponse refusal = ask(ChatRequest());
  EXPECT_EQ(refusal.status, 503);
  EXPECT_THAT(refusal.HeaderValues("Connection"), ElementsAre("close"));
  EXPECT_THAT(refusal.HeaderValues("Retry-After"), ElementsAre("1"));
  EXPECT_THAT(refusal.body,
              AllOf(HasSubstr(R"("type":"server_error")"), HasSubstr(R"("code":"drained")")));
  EXPECT_THAT(ask(PostRequest("/v1/messages", R"({"model":"m"})")).body,
              HasSubstr(R"({"type":"error","error":{"type":"overloaded_error")"));
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent);
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, AnswersWhoHadConnectedAndClosesWhoWasIdle) {
  Start();
  engine_->AnswerAll(Script().Json("{}"));
  RawClient idle = Connect(daemon_->port());
  ASSERT_TRUE(idle.Send(ChatRequest(false)).ok());
  ASSERT_EQ(idle.ReadResponse().value_or(RawResponse()).status, 200);
  RawClient connected = Connect(daemon_->port());
  ASSERT_EQ(Ask(daemon_->port(), ChatRequest(false)).status, 200) << "who came before is accepted";
  daemon_->child().Signal(SIGTERM);
  EXPECT_TRUE(idle.ReadToEnd().ok());
  EXPECT_EQ(idle.unread(), "");
  ASSERT_TRUE(connected.Send(ChatRequest(false)).ok());
  EXPECT_EQ(connected.ReadResponse().value_or(RawResponse()).status, 503);
}

TEST_F(DaemonEndTest, TakesRequestsForAGraceAndAsksForNoMoreOnTheirConnections) {
  Start({"--drain_grace=1h", "--drain=2h"});
  engine_->AnswerAll(Script().Json("{}"));
  RawClient kept = Connect(daemon_->port());
  ASSERT_TRUE(kept.Send(ChatRequest(false)).ok());
  ASSERT_THAT(kept.ReadResponse().value_or(RawResponse()).HeaderValues("Connection"), IsEmpty());
  daemon_->child().Signal(SIGTERM);
  ASSERT_TRUE(
      Eventually([&] { return Ask(daemon_->admin_port(), GetRequest("/readyz")).status == 503; }));
  ASSERT_TRUE(kept.Send(ChatRequest(false)).ok());
  for (const RawResponse& answer :
       {kept.ReadResponse().value_or(RawResponse()), Ask(daemon_->port(), ChatRequest(false))}) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.HeaderValues("Connection"), ElementsAre("close"));
  }
  daemon_->child().Signal(SIGTERM);
  ExpectDrainedEnding();
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, RefusesRequestsOnceTheGraceIsOver) {
  Start({"--drain_grace=50ms"});
  engine_->AnswerAll(Script().Json("{}"));
  daemon_->child().Signal(SIGTERM);
  EXPECT_TRUE(Eventually([&] { return Ask(daemon_->port(), ChatRequest(false)).status == 503; }));
}

TEST_F(DaemonEndTest, TakesAnInterruptForTheSame) {
  Start();
  daemon_->child().Signal(SIGINT);
  ASSERT_TRUE(daemon_->child().WaitForErr("draining"));
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent);
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

TEST_F(DaemonEndTest, B093_EndsARunningStreamInItsDialectWhenTheTimeIsUp) {
  Start({"--drain=0s"});
  daemon_->child().Signal(SIGTERM);
  ExpectDrainedEnding();
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

TEST_F(DaemonEndTest, DoesNotWaitAfterASecondSignal) {
  Start();
  daemon_->child().Signal(SIGTERM);
  ASSERT_TRUE(daemon_->child().WaitForErr("draining"));
  daemon_->child().Signal(SIGTERM);
  ExpectDrainedEnding();
  EXPECT_EQ(daemon_->child().WaitForExit(), 0) << daemon_->child().err();
}

/// A client that asks again and again, each time on a connection of its own, until nobody listens.
class AskingClient {
 public:
  explicit AskingClient(uint16_t port) : thread_([this, port] { Run(port); }) {}
  ~AskingClient() { thread_.join(); }

  /// Once nobody listens: requests that were neither served nor refused in order. The last one
  /// before does not count: it may have come between the last accept and the close.
  int failed() {
    EXPECT_TRUE(Eventually([this] { return ended_.load(); }));
    return failed_;
  }

 private:
  void Run(uint16_t port) {
    bool failed = false;
    while (true) {
      absl::StatusOr<RawClient> client = RawClient::Connect(port);
      if (!client.ok()) break;
      failed_ += failed ? 1 : 0;
      const bool sent = client->Send(ChatRequest(false)).ok();
      const RawResponse answer =
          sent ? client->ReadResponse().value_or(RawResponse()) : RawResponse();
      const bool refused = answer.status == 503 && !answer.HeaderValues("Retry-After").empty();
      failed = !(answer.status == 200 || refused) || !answer.complete();
    }
    ended_ = true;
  }

  std::atomic<bool> ended_{false};
  std::atomic<int> failed_{0};
  std::thread thread_;
};

/// SLUICE_TERMINATIONS says how often.
int Terminations() {
  const char* text = std::getenv("SLUICE_TERMINATIONS");
  int count = 0;
  return text != nullptr && absl::SimpleAtoi(text, &count) ? count : 20;
}

TEST_F(DaemonEndTest, G027_BreaksNoneOfTwentyStreamsAndLeavesNobodyWithoutAnAnswer) {
  for (int round = 0; round < Terminations(); ++round) {
    const std::string gate = absl::StrCat("round ", round);
    engine_->SetResponder([&](const EngineRequest& request) {
      if (!request.stream()) return Script().Json("{}");
      return Script().SseHead().Chunk(ContentEvent("a")).Gate(gate).Chunk(kDoneEvent).LastChunk();
    });
    Daemon daemon({absl::StrCat("--config=", file_.path())});
    std::vector<RawClient> streams;
    for (int i = 0; i < 20; ++i) {
      streams.push_back(Connect(daemon.port()));
      ASSERT_TRUE(streams.back().Send(ChatRequest()).ok());
    }
    for (RawClient& stream : streams) {
      ASSERT_TRUE(stream.ReadHead().ok());
      ASSERT_EQ(stream.ReadChunk().value_or(""), ContentEvent("a"));
    }
    AskingClient others(daemon.port());
    daemon.child().Signal(SIGTERM);
    ASSERT_TRUE(daemon.child().WaitForErr("draining"));
    engine_->OpenGate(gate);
    for (RawClient& stream : streams) {
      ASSERT_EQ(stream.ReadChunk().value_or("broken"), kDoneEvent);
      ASSERT_EQ(stream.ReadChunk().value_or("broken"), "");
    }
    ASSERT_EQ(daemon.child().WaitForExit(), 0) << daemon.child().err();
    ASSERT_EQ(others.failed(), 0);
  }
}

TEST_F(DaemonEndTest, B133_GoesOnAfterItCouldNotAccept) {
  Start();
  rlimit limit;
  ASSERT_EQ(::prlimit(daemon_->child().pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = 3;
  ASSERT_EQ(::prlimit(daemon_->child().pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  RawClient waiting = Connect(daemon_->port());
  ASSERT_TRUE(waiting.Send(ChatRequest(false)).ok());
  ASSERT_TRUE(daemon_->child().WaitForErr("cannot accept"));

  engine_->AnswerAll(Script().Json("{}"));
  ASSERT_EQ(::prlimit(daemon_->child().pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  EXPECT_EQ(waiting.ReadResponse().value_or(RawResponse()).status, 200);
  engine_->OpenGate("rest");
  EXPECT_EQ(client_->ReadChunk().value_or("nothing"), kDoneEvent) << "the running stream went on";
}

}  // namespace
}  // namespace sluice::testing
