// What a pool lends out comes back, whatever clients, engines and operators do.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"

#include "tests/integration/pools_fixture.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

/// One of the things that an engine may do to a request, most of them bad.
Script AnyAnswer(uint32_t choice) {
  const Script slowly =
      Script().Repeat(5, Script().Chunk(ContentEvent("a")).Pause(milliseconds(1)));
  Script script;
  switch (choice % 10) {
    case 0:
      return Script().Reset();
    case 1:
      return Script().Json("{}", "500 Oops");
    case 2:
      return Script().Json("{}", "503 Busy", "Retry-After: 1\r\n");
    case 3:
      return Script().Json("{}", "429 Slow Down");
    case 4:
      return Script().SseHead().Chunk("data: {\"error\":{\"message\":\"x\"}}\n\n").LastChunk();
    case 5:
      return Script().SseHead().Repeat(3, slowly).Reset();
    case 6:
      return Script().SseHead().Repeat(1, slowly).HalfChunk("data: ", 100).Fin();
    case 7:
      return Script().Pause(milliseconds(3)).SseHead().Pause(milliseconds(3)).Fin();
    default:
      return Script()
          .SseHead()
          .Repeat(4, slowly)
          .Chunk(FinishEvent())
          .Chunk(kDoneEvent)
          .LastChunk();
  }
}

class PoolsFaultsTest : public PoolsTest {
 protected:
  static constexpr int kInPool = 3;
  static constexpr int kInQueue = 4;

  /// A pool that takes three exchanges, two at one endpoint, and lets four wait; a principal that
  /// may have as many in flight.
  void StartFaulty() {
    engine_ = StartEngine();
    second_ = StartEngine();
    config::Config config = ConfigFor(engine_->uri());
    config::Pool& pool = config.pools[0];
    pool.endpoints.push_back({"b", second_->uri()});
    for (config::Endpoint& endpoint : pool.endpoints) endpoint.max_in_flight = 2;
    pool.endpoints.push_back({"dead", dead_.uri()});
    pool.max_in_flight = kInPool;
    pool.queue.capacity = kInQueue;
    pool.health.consecutive_failures = 0;
    pool.retry.budget_tokens = 1000;
    config.principals = {{.id = "anonymous", .max_in_flight = kInPool + kInQueue}};
    StartGateway(config, 2);
  }

  void ExpectNothingHeld() {
    for (const char* endpoint : {"a", "b", "dead"}) EXPECT_EQ(InFlightAt(endpoint), 0) << endpoint;
    pb::CheckLeaksResponse books;
    EXPECT_TRUE(Eventually([&] {
      grpc::ClientContext context;
      if (!observer().CheckLeaks(&context, {}, &books).ok() || books.live() != 0) return false;
      return std::all_of(books.readings().begin(), books.readings().end(), [](const auto& reading) {
        // The test's own sockets are in the same process.
        return absl::StrContains(reading.source(), "/proc") ||
               reading.booked() == reading.counted();
      });
    })) << books.DebugString();
  }

  void CancelAny(std::mt19937& random) {
    const pb::ListExchangesResponse live = ListLive();
    if (live.exchanges().empty()) return;
    pb::CancelExchangeRequest request;
    request.set_id(live.exchanges(static_cast<int>(random() % live.exchanges_size())).id());
    grpc::ClientContext context;
    pb::Exchange was;
    control().CancelExchange(&context, request, &was);  // it may have ended meanwhile
  }

  /// One request after the other by a client who may leave at any time.
  void BeRandomClient(uint32_t seed, int requests) {
    std::mt19937 random(seed);
    for (int i = 0; i < requests; ++i) {
      RawClient client = Ask();
      switch (random() % 8) {
        case 0:
          client.Reset();
          break;
        case 1:
          client.HalfClose();
          client.ReadToEnd().IgnoreError();
          break;
        case 2:
          client.ReadHead().IgnoreError();
          client.Reset();
          break;
        case 3:
          CancelAny(random);
          client.Close();
          break;
        case 4:
          if (random() % 4 == 0) engine_->ResetConnections();
          client.Close();
          break;
        default:
          EXPECT_TRUE(client.ReadResponse().ok());
      }
    }
  }

  const RefusingPort dead_;
};

TEST_F(PoolsFaultsTest, EverySlotIsReturnedWhateverHappens) {
  StartFaulty();
  for (ScriptedEngine* engine : {engine_.get(), second_.get()}) {
    engine->SetResponder([random = std::mt19937(engine->port())](const EngineRequest&) mutable {
      return AnyAnswer(random());
    });
  }
  std::vector<std::thread> clients;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    clients.emplace_back([this, seed] { BeRandomClient(seed, 30); });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(Eventually([this] { return gateway_->in_flight() == 0; }));
  ExpectNothingHeld();

  // As many as at first find a place, and wait for one, and not one more.
  const Script stream = Script().SseHead().Chunk(ContentEvent("a")).Hold();
  engine_->AnswerAll(stream);
  second_->AnswerAll(stream);
  std::vector<RawClient> held;
  for (int i = 0; i < kInPool + kInQueue; ++i) held.push_back(Ask());
  EXPECT_TRUE(WaitForPhase(pb::PHASE_RELAY, kInPool));
  EXPECT_TRUE(WaitForPhase(pb::PHASE_QUEUE, kInQueue));
  EXPECT_EQ(InFlightAt("a") + InFlightAt("b"), kInPool);
  EXPECT_EQ(Exchange(ChatRequest()).status, 429);
  held.clear();
  EXPECT_TRUE(Eventually([this] { return gateway_->in_flight() == 0; }));
  ExpectNothingHeld();
}

}  // namespace
}  // namespace sluice::testing
