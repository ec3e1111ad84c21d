// `sluicectl watch` as a process in front of a gateway that works: killed, too late, and across a
// restart.

#include <cstdio>
#include <fstream>
#include <signal.h>
#include <stop_token>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"

#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"
#include "tests/support/child_process.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSluiced[] = SLUICE_BIN "/sluiced";
constexpr char kSluicectl[] = SLUICE_BIN "/sluicectl";
/// More events than this are never in one response.
constexpr int64_t kMaxBatch = 128;

std::string TempPath(absl::string_view name) {
  const std::string path = absl::StrCat(::testing::TempDir(), "sluice-", name, "-", ::getpid());
  std::remove(path.c_str());
  return path;
}

/// The beginning of an event's line in JSON.
std::string LineOf(int64_t sequence) { return absl::StrCat("{\"sequence\":\"", sequence, "\""); }

/// The sequences of the events in the whole lines of `out`.
std::vector<int64_t> SequencesIn(absl::string_view out) {
  std::vector<int64_t> sequences;
  std::vector<absl::string_view> lines = absl::StrSplit(out, '\n');
  lines.pop_back();  // what comes after the last newline: nothing, or what a kill cut short
  for (absl::string_view line : lines) {
    int64_t sequence = 0;
    if (!absl::ConsumePrefix(&line, "{\"sequence\":\"")) continue;
    EXPECT_TRUE(absl::SimpleAtoi(line.substr(0, line.find('"')), &sequence));
    sequences.push_back(sequence);
  }
  return sequences;
}

class WatchProgramTest : public GatewayFixture {
 protected:
  ~WatchProgramTest() override { std::remove(token_path_.c_str()); }

  void StartWithRing(int capacity) {
    engine_ = StartEngine();
    std::string events;
    for (int i = 0; i < 50; ++i) events += ContentEvent("a");
    engine_->AnswerAll(Script().SseHead().Chunk(events).Chunk(kDoneEvent).LastChunk());
    config::Config config = ConfigFor(engine_->uri());
    config.limits.event_ring_capacity = capacity;
    StartGateway(std::move(config));
  }

  pb::EventRing Ring() {
    const auto channel = grpc::CreateChannel(absl::StrCat("127.0.0.1:", gateway_->control_port()),
                                             grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    pb::ServerStatus status;
    EXPECT_TRUE(pb::ObserverService::NewStub(channel)->GetServerStatus(&context, {}, &status).ok());
    return status.ring();
  }

  std::jthread StartLoad() {
    return std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested()) Exchange(ChatRequest());
    });
  }

  std::vector<std::string> WatchArgs() const {
    return {kSluicectl, "watch", "--output=json",
            absl::StrCat("--server=127.0.0.1:", gateway_->control_port()),
            absl::StrCat("--resume-file=", token_path_)};
  }

  const std::string token_path_ = TempPath("watch-token");
};

TEST_F(WatchProgramTest, LosesNothingWhenItIsKilledAndRepeatsAtMostOneResponse) {
  StartWithRing(1 << 20);
  int64_t last = Ring().published();
  std::jthread load;
  for (int run = 0; run < 8; ++run) {
    ChildProcess watch(WatchArgs());
    if (run == 0) {
      ASSERT_TRUE(Eventually([&] { return std::ifstream(token_path_).good(); })) << watch.err();
      load = StartLoad();
    }
    EXPECT_TRUE(watch.WaitForOut(LineOf(last + 300 + 77 * run))) << watch.err();
    watch.Signal(SIGKILL);
    EXPECT_EQ(watch.WaitForExit(), 128 + SIGKILL);
    EXPECT_THAT(watch.out(), ::testing::Not(HasSubstr("lost")));
    const std::vector<int64_t> sequences = SequencesIn(watch.out());
    ASSERT_FALSE(sequences.empty());
    EXPECT_LE(sequences.front(), last + 1) << "lost";
    EXPECT_GT(sequences.front(), last - kMaxBatch) << "repeated";
    for (size_t i = 1; i < sequences.size(); ++i) ASSERT_EQ(sequences[i], sequences[i - 1] + 1);
    last = sequences.back();
  }
}

TEST_F(WatchProgramTest, RepeatsNothingAfterAnInterrupt) {
  StartWithRing(1 << 20);
  int64_t last = Ring().published();
  std::jthread load;
  for (int run = 0; run < 4; ++run) {
    ChildProcess watch(WatchArgs());
    if (run == 0) {
      ASSERT_TRUE(Eventually([&] { return std::ifstream(token_path_).good(); })) << watch.err();
      load = StartLoad();
    }
    EXPECT_TRUE(watch.WaitForOut(LineOf(last + 300))) << watch.err();
    watch.Signal(SIGINT);
    EXPECT_EQ(watch.WaitForExit(), 0);
    for (const int64_t sequence : SequencesIn(watch.out())) ASSERT_EQ(sequence, ++last);
  }
}

TEST_F(WatchProgramTest, StatesExactlyWhatItMissed) {
  StartWithRing(1024);
  const int64_t before = Ring().published();
  ChildProcess first(WatchArgs());
  ASSERT_TRUE(Eventually([&] { return std::ifstream(token_path_).good(); })) << first.err();
  first.Signal(SIGINT);
  EXPECT_EQ(first.WaitForExit(), 0);
  size_t exchanges = 0;
  for (; Ring().published() < before + 3000; ++exchanges) Exchange(ChatRequest());
  finished_.WaitFor(exchanges);

  const int64_t published = Ring().published();
  std::vector<std::string> args = WatchArgs();
  args.emplace_back("--no-follow");
  ChildProcess second(args);
  EXPECT_EQ(second.WaitForExit(), 0) << second.err();
  EXPECT_THAT(second.out(),
              StartsWith(absl::StrCat("{\"lost\":{\"count\":\"", published - 1024 - before,
                                      "\",\"reason\":\"REASON_OVERRUN\"}}\n")));
  const std::vector<int64_t> sequences = SequencesIn(second.out());
  ASSERT_EQ(sequences.size(), 1024u);
  EXPECT_EQ(sequences.front(), published - 1023);
  EXPECT_EQ(sequences.back(), published);
}

TEST_F(WatchProgramTest, StatesARestartOfTheServer) {
  const std::string socket = absl::StrCat("unix:", TempPath("control"));
  const std::string config_path = TempPath("config");
  std::ofstream(config_path)
      << R"({"pools":[{"id":"chat"}],"routes":[{"model":"*","pool":"chat"}]})";
  const std::vector<std::string> daemon = {kSluiced, "--listen=127.0.0.1:0", "--admin=127.0.0.1:0",
                                           "--loops=1", absl::StrCat("--control=", socket)};
  const std::vector<std::string> apply = {kSluicectl,  "config",   "apply",
                                          config_path, "--server", socket};
  {
    ChildProcess first(daemon);
    ASSERT_TRUE(first.WaitForErr("serving")) << first.err();
    ChildProcess resumable({kSluicectl, "watch", "--output=json", "--server", socket,
                            absl::StrCat("--resume-file=", token_path_)});
    ASSERT_TRUE(Eventually([&] { return std::ifstream(token_path_).good(); })) << resumable.err();
    EXPECT_EQ(ChildProcess(apply).WaitForExit(), 0);
    EXPECT_TRUE(resumable.WaitForOut(LineOf(1)));
    first.Signal(SIGKILL);
    first.WaitForExit();
    EXPECT_TRUE(resumable.WaitForErr("cut off"));

    ChildProcess second(daemon);
    ASSERT_TRUE(second.WaitForErr("serving")) << second.err();
    EXPECT_TRUE(resumable.WaitForOut("REASON_RESTARTED")) << resumable.err();
    EXPECT_EQ(ChildProcess(apply).WaitForExit(), 0);
    EXPECT_TRUE(resumable.WaitForOut(absl::StrCat("REASON_RESTARTED\"}}\n", LineOf(1))))
        << resumable.out();
    resumable.Signal(SIGTERM);
    EXPECT_EQ(resumable.WaitForExit(), 0);
  }
  std::remove(config_path.c_str());
}

}  // namespace
}  // namespace sluice::testing
