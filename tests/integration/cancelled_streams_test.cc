// What the daemon holds before, during and after thousands of streams that their clients left, 64
// at a time, in five ways. SLUICE_CANCELLED_STREAMS says how many (1,000 unless set).

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/daemon.h"
#include "tests/integration/daemon_client.h"
#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"
#include "tests/support/scoped_env.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;

using Counts = std::map<std::string, int64_t>;

constexpr int kAtOnce = 64;
/// A crowd must raise each count by more than this: else the count shows nothing.
constexpr int64_t kSeen = 50;
constexpr int kWarmUp = 2000;
constexpr int64_t kMostGrowthKib = 2048;
constexpr absl::string_view kThreadsOfGrpc[] = {
    "default-executo", "event_engine",    "grpc_global_tim", "grpcpp_sync_ser",
    "nexting_thread",  "resolver-execut", "timer_manager"};
constexpr absl::string_view kSilent = "X-Silent";

/// What the daemon keeps of ended exchanges and past events is bounded; these bounds are reached in
/// the warm-up.
constexpr absl::string_view kLimits = R"({"limits":{"event_ring_capacity":1024},)";

enum class Manner { kFin, kReset, kHalfClose, kStrayBytes, kBeforeAnyByte };
constexpr int kManners = 5;

int Streams() {
  int streams = 1000;
  const char* text = std::getenv("SLUICE_CANCELLED_STREAMS");
  return text != nullptr && absl::SimpleAtoi(text, &streams) ? streams : 1000;
}

std::string Text(const Counts& counts) {
  return absl::StrJoin(counts, ", ", absl::PairFormatter(" "));
}

class CancelledStreamsTest : public ::testing::Test {
 protected:
  CancelledStreamsTest() {
    RaiseFdLimit();
    engine_->SetResponder([stream = Script().SseHead().Chunk(ContentEvent("a")).Hold(),
                           silent = Script().Hold()](const EngineRequest& request) {
      return request.HeaderValues(kSilent).empty() ? stream : silent;
    });
  }

  static std::unique_ptr<ScriptedEngine> StartEngine() {
    ScriptedEngine::Options options;
    options.keep_requests = false;
    return *ScriptedEngine::Start(options);
  }

  /// Threads, but for gRPC's own, which come and go with the load on its port.
  int64_t Threads() {
    int64_t threads = 0;
    for (const auto& task : std::filesystem::directory_iterator(daemon_.ProcPath("task"))) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      if (name.empty()) continue;  // it has ended meanwhile
      threads += std::count(std::begin(kThreadsOfGrpc), std::end(kThreadsOfGrpc), name) == 0;
    }
    return threads;
  }

  int64_t Metric(const std::string& page, const std::string& sample) {
    const size_t at = page.find(absl::StrCat("\n", sample, " "));
    if (at == std::string::npos) return -1;
    return std::atoll(page.c_str() + at + sample.size() + 2);
  }

  /// What it holds by its own books, and by the system's.
  Counts Held() {
    const std::string page =
        Ask(daemon_.admin_port(), GetRequest("/metrics", "Connection: close\r\n")).body;
    Counts held = {
        {"slots", Metric(page, R"(sluice_pool_in_flight{pool="chat"})")},
        {"pooled connections", Metric(page, R"(sluice_connections{peer="upstream_idle"})")}};
    grpc::ClientContext context;
    pb::CheckLeaksResponse books;
    EXPECT_TRUE(observer_->CheckLeaks(&context, {}, &books).ok());
    for (const auto& reading : books.readings()) held[reading.name()] = reading.booked();
    held["threads"] = Threads();
    const std::filesystem::directory_iterator descriptors(daemon_.ProcPath("fd"));
    held["descriptors"] = std::distance(begin(descriptors), end(descriptors));
    return held;
  }

  /// What it holds once it serves nobody: the first of two readings in a row that are the same.
  Counts HeldAtRest() {
    Counts held;
    EXPECT_TRUE(Eventually([&] {
      const Counts before = std::exchange(held, Held());
      return held == before && held.at("exchanges") == 0;
    })) << Text(held);
    return held;
  }

  static void Leave(RawClient& client, Manner manner) {
    switch (manner) {
      case Manner::kReset:
        return client.Reset();
      case Manner::kHalfClose:
        return client.HalfClose();
      case Manner::kStrayBytes:
        (void)client.Send("GET /stray HTTP/1.1\r\n");
        [[fallthrough]];
      default:
        client.Close();
    }
  }

  /// One crowd of streams comes, and leaves in the five manners in turn; `during`, if not null,
  /// gets what the daemon held meanwhile. The engine has seen each one leave when this returns.
  void CancelACrowd(int size, Counts* during) {
    std::vector<std::pair<RawClient, Manner>> clients;
    for (int i = 0; i < size; ++i) {
      const Manner manner = static_cast<Manner>(begun_++ % kManners);
      RawClient client = Connect(daemon_.port());
      const std::string silent =
          manner == Manner::kBeforeAnyByte ? absl::StrCat(kSilent, ": 1\r\n") : "";
      ASSERT_TRUE(client.Send(ChatRequest(true, silent)).ok());
      clients.emplace_back(std::move(client), manner);
    }
    ASSERT_TRUE(engine_->WaitAtGate("", static_cast<uint64_t>(size)));
    for (auto& [client, manner] : clients) {
      if (manner == Manner::kBeforeAnyByte) continue;
      ASSERT_TRUE(client.ReadHead().ok());
      ASSERT_EQ(client.ReadChunk().value_or("nothing"), ContentEvent("a"));
    }
    if (during != nullptr) *during = Held();
    for (auto& [client, manner] : clients) Leave(client, manner);
    ASSERT_TRUE(engine_->WaitForCancelled(begun_));
  }

  void Cancel(int streams) {
    for (int left = streams; left > 0; left -= kAtOnce) {
      ASSERT_NO_FATAL_FAILURE(CancelACrowd(std::min(left, kAtOnce), nullptr));
    }
  }

  std::unique_ptr<ScriptedEngine> engine_ = StartEngine();
  const TempFile config_{absl::StrCat(kLimits, absl::StripPrefix(ConfigFor(engine_->uri()), "{"))};
  const ScopedEnv arenas_{"MALLOC_ARENA_MAX", "2"};
  Daemon daemon_{{absl::StrCat("--config=", config_.path())}};
  const std::unique_ptr<pb::ObserverService::Stub> observer_ =
      pb::ObserverService::NewStub(grpc::CreateChannel(
          absl::StrCat("127.0.0.1:", daemon_.control_port()), grpc::InsecureChannelCredentials()));
  uint64_t begun_ = 0;
};

TEST_F(CancelledStreamsTest, LeaveNothingBehind) {
  const int streams = Streams();
  ASSERT_NO_FATAL_FAILURE(Cancel(kWarmUp));
  const Counts before = HeldAtRest();
  EXPECT_EQ(before.at("slots"), 0);
  EXPECT_EQ(before.at("sockets"), 2) << "two listeners";
  std::cout << "before: " << Text(before) << ", " << daemon_.RssKib() << " KiB" << std::endl;

  int64_t early_rss = 0;
  for (int part = 1; part <= 10; ++part) {
    Counts during;
    ASSERT_NO_FATAL_FAILURE(CancelACrowd(kAtOnce, &during));
    for (const char* name : {"exchanges", "slots", "endpoint leases", "sockets", "fibers",
                             "upstream connections", "descriptors"}) {
      EXPECT_GT(during.at(name), before.at(name) + kSeen) << Text(during);
    }
    EXPECT_EQ(during.at("threads"), before.at("threads")) << "a stream takes no thread";
    ASSERT_NO_FATAL_FAILURE(Cancel(streams / 10 - kAtOnce));
    if (part == 1) early_rss = daemon_.RssKib();
    if (part == 1 || part == 10) std::cout << "during: " << Text(during) << std::endl;
  }

  EXPECT_TRUE(Eventually([&] { return Held() == before; })) << Text(Held());
  const int64_t rss = daemon_.RssKib();
  std::cout << "after:  " << Text(Held()) << ", " << rss << " KiB; " << early_rss
            << " KiB after one tenth of " << streams << std::endl;
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory
  EXPECT_LE(rss, early_rss + kMostGrowthKib);
#endif
  EXPECT_EQ(engine_->counts().cancelled, begun_);
  EXPECT_EQ(engine_->counts().requests, begun_);
  EXPECT_EQ(engine_->counts().answered, 0u);
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
}

}  // namespace
}  // namespace sluice::testing
