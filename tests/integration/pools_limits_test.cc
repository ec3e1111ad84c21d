// Who may call, how much, and how many at once.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <openssl/sha.h>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "tests/integration/pools_fixture.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PoolsLimitsTest : public PoolsTest {
 protected:
  /// One pool of one endpoint, that takes one exchange at a time.
  void StartNarrow(int queue_capacity) {
    StartOne([&](config::Config& config) {
      config.pools[0].max_in_flight = 1;
      config.pools[0].queue.capacity = queue_capacity;
    });
  }

  /// A stream that has begun and goes on when the gate "more" is opened.
  RawClient BeginStream() {
    engine_->Enqueue(Script()
                         .SseHead()
                         .Chunk(ContentEvent("a"))
                         .Gate("more")
                         .Chunk(FinishEvent())
                         .Chunk(kDoneEvent)
                         .LastChunk());
    return AskAndReadHead();
  }
};

TEST_F(PoolsLimitsTest, TakesAClientsKeyOnceItIsInTheFile) {
  const TempDirectory directory;
  client_keys_ = directory.path() + "/keys";
  const auto line = [](absl::string_view principal, absl::string_view key) {
    unsigned char hash[SHA256_DIGEST_LENGTH];
    ::SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), hash);
    const absl::string_view bytes(reinterpret_cast<const char*>(hash), sizeof hash);
    return absl::StrCat(principal, " ", absl::BytesToHexString(bytes), "\n");
  };
  std::ofstream(client_keys_) << line("alice", "sk-alice");
  StartOne();
  engine_->AnswerAll(GoodStream());
  ExpectError(Run(), 401, "unauthenticated");
  const std::string bobs = ChatRequest(true, "Authorization: Bearer sk-bob\r\n");
  const Outcome refused = Run(bobs);
  ExpectError(refused, 401, "unauthenticated");
  EXPECT_THAT(refused.response.HeaderValues("WWW-Authenticate"), ElementsAre("Bearer"));
  ExpectPassed(Run(ChatRequest(true, "x-api-key: sk-alice\r\n")), GoodBody());

  std::ofstream(client_keys_ + ".new") << line("bob", "sk-bob");
  ASSERT_EQ(std::rename((client_keys_ + ".new").c_str(), client_keys_.c_str()), 0);
  Outcome served;
  EXPECT_TRUE(Eventually([&] {
    served = Run(bobs);
    return served.response.status != 401;
  }));
  ExpectPassed(served, GoodBody());
  EXPECT_EQ(served.record().info().principal, "bob");
  ExpectError(Run(ChatRequest(true, "x-api-key: sk-alice\r\n")), 401, "unauthenticated");
  for (const EngineRequest& seen : engine_->requests()) {
    EXPECT_THAT(seen.HeaderValues("Authorization"), IsEmpty());
    EXPECT_THAT(seen.HeaderValues("x-api-key"), IsEmpty());
  }
  gateway_ = nullptr;  // it looks at the file no more
}

TEST_F(PoolsLimitsTest, TellsAPrincipalOverItsRequestsWhenToComeAgain) {
  StartOne([](config::Config& config) {
    config.principals = {{.id = "*", .rates = {{.model = "m1", .requests_per_minute = 1}}}};
  });
  engine_->AnswerAll(GoodStream());
  ExpectPassed(Run(), GoodBody());
  const Outcome refused = Run();
  ExpectError(refused, 429, "over_limit");
  ASSERT_EQ(refused.response.HeaderValues("Retry-After").size(), 1u);
  int seconds = 0;
  EXPECT_TRUE(absl::SimpleAtoi(refused.response.HeaderValues("Retry-After")[0], &seconds));
  EXPECT_GT(seconds, 0);
  EXPECT_LE(seconds, 60);
  EXPECT_THAT(refused.response.HeaderValues("x-ratelimit-limit-requests"), ElementsAre("1"));
  EXPECT_THAT(refused.response.HeaderValues("x-ratelimit-remaining-requests"), ElementsAre("0"));
  EXPECT_EQ(refused.response.HeaderValues("x-ratelimit-reset-requests").size(), 1u);
  ExpectPassed(Run(PostRequest("/v1/chat/completions", R"({"model":"m2","messages":[]})")),
               GoodBody());
}

TEST_F(PoolsLimitsTest, RefusesAPrincipalThatHasAllItMayInFlight) {
  StartOne([](config::Config& config) {
    config.principals = {{.id = "anonymous", .max_in_flight = 1}};
  });
  RawClient first = BeginStream();
  const Outcome refused = Run();
  ExpectError(refused, 429, "over_limit");
  EXPECT_EQ(refused.response.HeaderValues("Retry-After").size(), 1u);
  engine_->OpenGate("more");
  EXPECT_EQ(Finished(1).record.cause, Cause::kCompleted);
  ExpectPassed(RunScript(GoodStream()), GoodBody());
}

TEST_F(PoolsLimitsTest, ARequestWaitsForAPlaceAndIsServed) {
  StartNarrow(1);
  RawClient first = BeginStream();
  engine_->Enqueue(GoodStream());
  RawClient second = Ask();
  ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 1));

  const Outcome refused = Run();
  ExpectError(refused, 503, "no_capacity");
  EXPECT_THAT(refused.response.HeaderValues("Retry-After"), ElementsAre("1"));
  EXPECT_EQ(refused.record().detail, "the pool is full, and so is its queue");

  EXPECT_EQ(engine_->counts().requests, 1u);
  engine_->OpenGate("more");
  const absl::StatusOr<RawResponse> served = second.ReadResponse();
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->body, GoodBody());
}

TEST_F(PoolsLimitsTest, AWaitingClientThatLeavesFreesItsPlace) {
  StartNarrow(1);
  RawClient first = BeginStream();
  RawClient leaver = Ask();
  ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 1));
  leaver.Reset();
  EXPECT_EQ(Finished(0).record.cause, Cause::kClientGone);
  engine_->Enqueue(GoodStream());
  RawClient next = Ask();
  ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 1));
  engine_->OpenGate("more");
  const absl::StatusOr<RawResponse> served = next.ReadResponse();
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->body, GoodBody());
  EXPECT_EQ(engine_->counts().requests, 2u);
}

TEST_F(PoolsLimitsTest, ARequestWaitsNoLongerThanTheQueueSays) {
  StartOne([](config::Config& config) {
    config.pools[0].max_in_flight = 1;
    config.pools[0].queue = {.capacity = 1, .max_wait = milliseconds(20)};
  });
  const RawClient first = BeginStream();
  const Outcome refused = Run();
  ExpectError(refused, 503, "no_capacity");
  EXPECT_EQ(refused.record().detail, "the pool was full for as long as a request may wait");
}

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
        return reading.source().find("/proc") != std::string::npos ||
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
