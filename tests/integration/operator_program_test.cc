// `sluicectl` as a process in front of `sluiced` as another: what an operator sees of streams, and
// what becomes of them.

#include <algorithm>
#include <memory>
#include <signal.h>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/support/chat_events.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/pty_process.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Ended {
  int code;
  std::string out;
  std::string err;
};

class OperatorProgramTest : public ::testing::Test {
 protected:
  std::vector<std::string> Args(std::vector<std::string> args) {
    args.insert(args.begin(), SLUICE_BIN "/sluicectl");
    args.insert(args.end(), {"--server", absl::StrCat("127.0.0.1:", daemon_.control_port())});
    return args;
  }
  Ended Run(const std::vector<std::string>& args) {
    ChildProcess child(Args(args));
    const int code = child.WaitForExit();
    return {code, child.out(), child.err()};
  }

  /// Begins a stream of which one event has passed; the rest waits at the gate `gate`.
  std::unique_ptr<RawClient> Begin(const std::string& gate = "rest") {
    engine_->Enqueue(Script()
                         .SseHead()
                         .Chunk(ContentEvent("a"))
                         .Gate(gate)
                         .Chunk(ContentEvent("\\u001b[2Jb"))
                         .Chunk(FinishEvent())
                         .Chunk(kDoneEvent)
                         .LastChunk());
    absl::StatusOr<RawClient> client = RawClient::Connect(daemon_.port());
    EXPECT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE(client->Send(ChatRequest()).ok());
    EXPECT_TRUE(client->ReadHead().ok());
    EXPECT_EQ(client->ReadChunk().value_or(""), ContentEvent("a"));
    return std::make_unique<RawClient>(*std::move(client));
  }
  /// The id of the one exchange that runs.
  std::string RunningId() {
    const std::string line = Run({"exchange", "list", "--output", "json"}).out;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    constexpr absl::string_view kBefore = "{\"id\":\"";
    EXPECT_THAT(line, StartsWith(std::string(kBefore)));
    return line.substr(kBefore.size(), 17);
  }
  static void ExpectEnding(RawClient& client, const char* cause) {
    EXPECT_THAT(client.ReadChunk().value_or("nothing"),
                AllOf(StartsWith("data: {\"error\":"),
                      HasSubstr(absl::StrCat("\"code\":\"", cause, "\""))));
    EXPECT_EQ(client.ReadChunk().value_or("nothing"), "");
  }
  static void ExpectRest(RawClient& client) {
    std::string rest;
    while (true) {
      const std::string chunk = client.ReadChunk().value_or("nothing");
      if (chunk.empty() || chunk == "nothing") break;
      rest += chunk;
    }
    EXPECT_EQ(rest, absl::StrCat(ContentEvent("\\u001b[2Jb"), FinishEvent(), kDoneEvent));
  }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  TempFile file_{ConfigFor(engine_->uri())};
  Daemon daemon_{{absl::StrCat("--config=", file_.path())}};
};

TEST_F(OperatorProgramTest, ListsAndShowsAnExchangeThatRunsAndOneThatHasEnded) {
  const auto client = Begin();
  const std::string id = RunningId();
  const Ended list = Run({"exchange", "list", "--endpoint", "chat/a", "--model", "m1"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(StartsWith("ID "), HasSubstr(id + "  relay  ")));
  EXPECT_THAT(Run({"exchange", "list", "--model", "m2"}).out, Not(HasSubstr(id)));
  EXPECT_THAT(Run({"exchange", "get", id}).out,
              AllOf(HasSubstr("runs, in the phase relay"), HasSubstr("committed")));

  engine_->OpenGate("rest");
  ExpectRest(*client);
  ASSERT_TRUE(Eventually([&] {
    return Run({"exchange", "list", "--finished"}).out.find(id) != std::string::npos;
  }));
  EXPECT_THAT(Run({"exchange", "list"}).out, Not(HasSubstr(id)));
  EXPECT_THAT(Run({"exchange", "list", "--cause", "completed"}).out, HasSubstr("  completed\n"));
  const Ended got = Run({"exchange", "get", id.substr(9)});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr(": completed, status 200"), HasSubstr("finish        stop"),
                             HasSubstr("times between frames\n  ")));
  EXPECT_EQ(Run({"exchange", "cancel", id}).code, 4);
  EXPECT_EQ(Run({"exchange", "get", "x0000000000000000"}).code, 5);
}

TEST_F(OperatorProgramTest, CancelEndsAStreamInItsDialect) {
  const auto client = Begin();
  const std::string id = RunningId();
  const Ended cancelled = Run({"exchange", "cancel", id, "--reason", "runs away"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, StartsWith(absl::StrCat("cancelled: ", id, ", m1 at chat/a")));
  ExpectEnding(*client, "cancelled_by_operator");
  EXPECT_TRUE(Eventually([&] {
    const std::string got = Run({"exchange", "get", id}).out;
    return got.find("cancelled_by_operator") != std::string::npos &&
           got.find("runs away") != std::string::npos;
  }));
}

TEST_F(OperatorProgramTest, TailShowsTheFramesToTheEnd) {
  const auto client = Begin();
  // A tail says nothing before the first frame: each is in the audit log once it is in place.
  ChildProcess tail(Args({"exchange", "tail", RunningId()}));
  ASSERT_TRUE(daemon_.child().WaitForErr("tail exchange"));
  engine_->OpenGate("rest");
  ExpectRest(*client);
  EXPECT_EQ(tail.WaitForExit(), 0) << tail.err();
  EXPECT_THAT(tail.out(),
              AllOf(HasSubstr("{\"content\":\"\\u001b[2Jb\"}"), HasSubstr("\n[DONE]\n")));
  EXPECT_EQ(tail.err(), "sluicectl: the exchange has ended: completed\n");
}

TEST_F(OperatorProgramTest, DrainWaitsForTheStreamAndResumeLetsNewOnesIn) {
  const auto client = Begin();
  ChildProcess drain(Args({"endpoint", "drain", "chat/a", "--reason", "new driver"}));
  ASSERT_TRUE(drain.WaitForErr("1 exchange remains; the oldest is x")) << drain.err();
  EXPECT_THAT(Run({"endpoint", "list"}).out, HasSubstr("chat/a  draining          1"));
  const Ended doctor = Run({"doctor"});
  EXPECT_EQ(doctor.code, 1);
  EXPECT_THAT(doctor.out, HasSubstr("WARN  drained     chat/a; nothing is left that serves chat"));

  engine_->OpenGate("rest");
  ExpectRest(*client);
  EXPECT_EQ(drain.WaitForExit(), 0) << drain.err();
  EXPECT_EQ(drain.out(), "drained: endpoint chat/a serves nobody any more\n");
  const Ended resumed = Run({"endpoint", "resume", "pools/chat/endpoints/a"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "resumed: endpoint chat/a is active\n");
  EXPECT_EQ(Run({"doctor"}).code, 0);
  EXPECT_EQ(Run({"endpoint", "drain", "chat/z"}).code, 5);
}

TEST_F(OperatorProgramTest, AnInterruptedDrainStaysAndCancelsNothing) {
  const auto client = Begin();
  ChildProcess drain(Args({"endpoint", "drain", "chat/a", "--cancel"}));
  ASSERT_TRUE(drain.WaitForErr("1 exchange remains")) << drain.err();
  drain.Signal(SIGINT);
  EXPECT_EQ(drain.WaitForExit(), 1);
  EXPECT_THAT(drain.err(),
              HasSubstr("`sluicectl endpoint resume chat/a` sends it attempts again."));
  EXPECT_THAT(Run({"endpoint", "list"}).out, HasSubstr("chat/a  draining "));
  engine_->OpenGate("rest");
  ExpectRest(*client);
}

TEST_F(OperatorProgramTest, DrainTellsWhoIsLeftOrCancelsThem) {
  const auto client = Begin();
  const std::string id = RunningId();
  const Ended left = Run({"endpoint", "drain", "chat/a", "--timeout", "0s"});
  EXPECT_EQ(left.code, 1);
  EXPECT_THAT(left.out, HasSubstr(id));
  EXPECT_THAT(left.err, HasSubstr("still serves 1 exchange"));

  const Ended cancelled = Run({"server", "drain", "--timeout", "0s", "--cancel"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.err;
  EXPECT_EQ(cancelled.out, "drained: the server serves nobody any more; cancelled 1 exchange\n");
  ExpectEnding(*client, "drained");
  daemon_.child().Signal(SIGTERM);
  EXPECT_EQ(daemon_.child().WaitForExit(), 0) << daemon_.child().err();
}

TEST_F(OperatorProgramTest, DoctorFindsNoLeakBeforeDuringAndAfterAStream) {
  ChildProcess doctor(Args({"doctor", "leaks", "--interval", "300ms"}));
  const auto client = Begin();
  engine_->OpenGate("rest");
  ExpectRest(*client);
  EXPECT_EQ(doctor.WaitForExit(), 0) << doctor.out() << doctor.err();
  EXPECT_THAT(doctor.out(), AllOf(HasSubstr("exchanges opened"), HasSubstr("sockets"),
                                  HasSubstr("fibers"), Not(HasSubstr("LEAKS"))));
  EXPECT_THAT(doctor.err(), HasSubstr("no leak"));
}

TEST_F(OperatorProgramTest, TopPrintsOnePictureIntoAPipe) {
  const auto client = Begin();
  const Ended top = Run({"top", "--interval", "100ms"});
  EXPECT_EQ(top.code, 0) << top.err;
  EXPECT_THAT(top.out, AllOf(HasSubstr("1 in flight"), HasSubstr("\nchat/a    active "),
                             HasSubstr(absl::StrCat("\n", RunningId().substr(9), "  m1 "))));
  EXPECT_THAT(top.out, Not(HasSubstr("\x1b")));
}

TEST_F(OperatorProgramTest, TopShowsTheStreamOnATerminalAndCancelsIt) {
  const auto client = Begin();
  const std::string id = RunningId();
  PtyProcess top(Args({"top", "--interval", "100ms"}));
  ASSERT_TRUE(top.WaitFor(id.substr(9))) << top.out();
  top.Type("h");
  EXPECT_TRUE(top.WaitFor("PgDn")) << "the help";
  top.Type("h");
  EXPECT_TRUE(top.WaitFor(id.substr(9))) << "the streams again";
  top.Type("k");
  EXPECT_TRUE(top.WaitFor("Why"));
  top.Type("too long\n");
  EXPECT_TRUE(top.WaitFor("Press"));
  top.Type("y");
  ExpectEnding(*client, "cancelled_by_operator");
  EXPECT_TRUE(top.WaitFor("cancelled"));
  top.Type("q");
  EXPECT_EQ(top.WaitForExit(), 0) << top.out();
  EXPECT_TRUE(Eventually([&] {
    return Run({"exchange", "get", id}).out.find("too long") != std::string::npos;
  }));
}

TEST_F(OperatorProgramTest, TopGivesTheTerminalBackOnAnInterrupt) {
  PtyProcess top(Args({"top"}));
  ASSERT_TRUE(top.WaitFor("in flight")) << top.out();
  top.Type("\x03");
  EXPECT_EQ(top.WaitForExit(), 0);
  EXPECT_THAT(top.out(), HasSubstr("\x1b[?1049l")) << "left the screen of its own";
}

}  // namespace
}  // namespace sluice::testing
