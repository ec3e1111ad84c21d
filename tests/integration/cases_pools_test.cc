// Cases on queues, balance, ejection and keys of pools.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "tests/integration/pools_fixture.h"
#include "tests/support/scoped_env.h"

namespace sluice::testing {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PoolsCases : public PoolsTest {
 protected:
  /// One failure is enough to eject an endpoint for as long as the test runs.
  static void BeStrict(config::Pool& pool) {
    pool.health.consecutive_failures = 1;
    pool.health.ejection = hours(1);
    pool.health.longest_ejection = hours(1);
  }
};

TEST_F(PoolsCases, B048_WhoLeftTheQueueIsNeverServed) {
  StartOne([](config::Config& config) {
    config.pools[0].max_in_flight = 1;
    config.pools[0].queue.capacity = 10;
  });
  engine_->AnswerAll(
      Script().SseHead().Chunk(ContentEvent("a")).Gate("more").Chunk(kDoneEvent).LastChunk());
  RawClient first = AskAndReadHead();
  {
    std::vector<RawClient> leavers;
    for (int i = 0; i < 5; ++i) leavers.push_back(Ask());
    ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 5));
    for (RawClient& leaver : leavers) leaver.Reset();
  }
  EXPECT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 0));
  RawClient seventh = Ask();
  ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 1));
  EXPECT_EQ(engine_->counts().requests, 1u);
  engine_->OpenGate("more");
  const absl::StatusOr<RawResponse> served = seventh.ReadResponse();
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->status, 200);
  EXPECT_EQ(engine_->counts().requests, 2u);
  const std::vector<FinishedExchange> all = finished_.WaitFor(7);
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const FinishedExchange& exchange) {
                            return exchange.record.cause == Cause::kClientGone &&
                                   exchange.record.attempts.empty();
                          }),
            5);
}

TEST_F(PoolsCases, B050_DeparturesEjectNobody) {
  StartTwo(BeStrict);
  for (const bool committed : {false, true}) {
    Script script;
    if (committed) script.SseHead().Chunk(ContentEvent("a"));
    engine_->AnswerAll(Script(script).Hold());
    second_->AnswerAll(Script(script).Hold());
    for (int i = 0; i < 10; ++i) {
      const uint64_t before = engine_->counts().requests + second_->counts().requests;
      const size_t finished = finished_.count();
      RawClient client = committed ? AskAndReadHead() : Ask();
      ASSERT_TRUE(Eventually(
          [&] { return engine_->counts().requests + second_->counts().requests > before; }));
      client.Reset();
      EXPECT_EQ(Finished(finished).record.cause, Cause::kClientGone);
    }
  }
  engine_->AnswerAll(GoodStream());
  second_->AnswerAll(GoodStream());
  const uint64_t before = engine_->counts().requests;
  for (int i = 0; i < 4; ++i) ExpectPassed(Run(), GoodBody());
  EXPECT_EQ(engine_->counts().requests, before + 2);
}

TEST_F(PoolsCases, B051_LoadIsWhatRunsAndTheLeastLoadedIsChosen) {
  StartTwo([](config::Pool& pool) { pool.balancing.policy = config::Balance::kLeastOutstanding; });
  // A stream ends when the gate that its request names is opened.
  const auto answer_as = [](absl::string_view engine) {
    return [head = absl::StrCat("X-Engine: ", engine, "\r\n")](const EngineRequest& request) {
      return Script()
          .SseHead(head)
          .Chunk(ContentEvent("a"))
          .Gate(request.HeaderValues("X-Gate").front())
          .Chunk(kDoneEvent)
          .LastChunk();
    };
  };
  engine_->SetResponder(answer_as("a"));
  second_->SetResponder(answer_as("b"));
  struct Stream {
    RawClient client;
    std::string gate;
  };
  std::vector<Stream> at_a, at_b;
  int streams = 0;
  const auto open = [&] {
    const std::string gate = absl::StrCat("g", streams++);
    std::string head;
    RawClient client =
        AskAndReadHead(&head, ChatRequest(true, absl::StrCat("X-Gate: ", gate, "\r\n")));
    (absl::StrContains(head, "X-Engine: a") ? at_a : at_b).push_back({std::move(client), gate});
  };
  for (int i = 0; i < 20; ++i) open();
  ASSERT_EQ(at_a.size(), 10u);
  EXPECT_EQ(InFlightAt("a"), 10);

  for (int i = 0; i < 5; ++i) at_a[i].client.Reset();
  for (int i = 5; i < 8; ++i) engine_->OpenGate(at_a[i].gate);
  EXPECT_TRUE(Eventually([&] { return InFlightAt("a") == 2; }));
  EXPECT_EQ(InFlightAt("b"), 10);
  at_a.erase(at_a.begin(), at_a.begin() + 8);

  for (int i = 0; i < 8; ++i) open();
  EXPECT_EQ(at_a.size(), 10u);
  EXPECT_EQ(InFlightAt("a"), 10);
  at_a.clear();
  at_b.clear();
  EXPECT_TRUE(Eventually([&] { return InFlightAt("a") == 0 && InFlightAt("b") == 0; }));
}

TEST_F(PoolsCases, B076_AFullEndpointRestsAndIsNotEjected) {
  StartTwo(BeStrict);
  engine_->Enqueue(Script().Json("{}", "503 Busy", "Retry-After: 3600\r\n"));
  second_->AnswerAll(GoodStream());
  EXPECT_EQ(Run().attempts(), "upstream_refused_503 -");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Run().attempts(), "-");
  EXPECT_EQ(engine_->counts().requests, 1u);
  // When there is no other it is asked all the same.
  second_->AnswerAll(Script().Json("{}", "500 Oops"));
  engine_->AnswerAll(GoodStream());
  const Outcome outcome = Run();
  ExpectPassed(outcome, GoodBody());
  EXPECT_EQ(outcome.attempts(), "upstream_status -");
}

TEST_F(PoolsCases, B078_OfSeveralTimesToWaitTheShortestIsPassedOn) {
  StartTwo();
  const std::string date = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT",
                                            absl::Now() + absl::Seconds(600), absl::UTCTimeZone());
  engine_->Enqueue(
      Script().Json("{}", "429 Slow Down", absl::StrCat("Retry-After: ", date, "\r\n")));
  second_->Enqueue(Script().Json(R"({"error":"last"})", "429 Slow Down", "Retry-After: 3600\r\n"));
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.response.status, 429);
  EXPECT_EQ(outcome.response.body, R"({"error":"last"})");
  EXPECT_THAT(outcome.response.HeaderValues("Retry-After"), ElementsAre(date));
  EXPECT_EQ(engine_->counts().requests + second_->counts().requests, 2u);
}

TEST_F(PoolsCases, B078_AlsoWhenTheLastAttemptGotNoAnswer) {
  const RefusingPort dead;
  StartTwo([&](config::Pool& pool) { pool.endpoints.push_back({"dead", dead.uri()}); });
  engine_->Enqueue(Script().Json("{}", "429 Slow Down", "Retry-After: 7\r\n"));
  second_->Enqueue(Script().Json("{}", "503 Busy", "Retry-After: 3600\r\n"));
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.attempts(), "upstream_status upstream_refused_503 connect_failed");
  EXPECT_EQ(outcome.response.status, 503);
  EXPECT_THAT(outcome.response.HeaderValues("Retry-After"), ElementsAre("7"));
}

TEST_F(PoolsCases, B084_ARemovedEndpointGetsNoMoreRequests) {
  StartTwo();
  engine_->AnswerAll(GoodStream());
  second_->AnswerAll(GoodStream());
  for (int i = 0; i < 2; ++i) ExpectPassed(Run(), GoodBody());
  EXPECT_EQ(engine_->counts().requests, 1u);
  pb::RemoveEndpointRequest request;
  request.set_name(Name("a"));
  grpc::ClientContext context;
  pb::Config after;
  const grpc::Status status = control().RemoveEndpoint(&context, request, &after);
  ASSERT_TRUE(status.ok()) << status.error_message();
  for (int i = 0; i < 4; ++i) ExpectPassed(Run(), GoodBody());
  EXPECT_EQ(engine_->counts().requests, 1u);

  grpc::ClientContext list_context;
  pb::ListEndpointsResponse listed;
  ASSERT_TRUE(observer().ListEndpoints(&list_context, {}, &listed).ok());
  ASSERT_EQ(listed.endpoints_size(), 1);
  EXPECT_EQ(listed.endpoints(0).name(), Name("b"));
}

TEST_F(PoolsCases, B098_TheUpstreamGetsThePoolsKeyAndTheClientsIsNowhere) {
  const ScopedEnv key("SLUICE_TEST_UPSTREAM_KEY", "uk-test-1");
  StartOne([](config::Config& config) {
    config.pools[0].keys = {{.id = "k1", .env = "SLUICE_TEST_UPSTREAM_KEY"}};
  });
  engine_->Enqueue(GoodStream());
  ExpectPassed(Run(ChatRequest(true,
                               "Authorization: Bearer ck-test-1\r\nx-api-key: ck-test-1\r\n"
                               "Cookie: s=ck-test-1\r\n")),
               GoodBody());
  const EngineRequest seen = engine_->requests()[0];
  EXPECT_THAT(seen.HeaderValues("Authorization"), ElementsAre("Bearer uk-test-1"));
  EXPECT_THAT(seen.head, Not(HasSubstr("ck-test-1")));

  grpc::ClientContext context;
  pb::WatchEventsRequest request;
  request.set_tail(1000);
  auto watch = observer().WatchEvents(&context, request);
  std::string events;
  pb::WatchEventsResponse response;
  while (watch->Read(&response)) absl::StrAppend(&events, response.DebugString());
  EXPECT_THAT(events, HasSubstr("exchange_finished"));
  const std::string metrics = [&] {
    RawClient client = RawClient::Connect(static_cast<uint16_t>(gateway_->admin_port())).value();
    EXPECT_TRUE(client.Send(GetRequest("/metrics")).ok());
    return client.ReadResponse().value_or(RawResponse()).body;
  }();
  EXPECT_THAT(metrics, HasSubstr("sluice_exchanges_total"));
  grpc::ClientContext config_context;
  pb::Config config;
  ASSERT_TRUE(control().GetConfig(&config_context, {}, &config).ok());
  for (const std::string& text : {events, metrics, config.DebugString()}) {
    EXPECT_THAT(text, Not(HasSubstr("ck-test-1")));
    EXPECT_THAT(text, Not(HasSubstr("uk-test-1")));
  }
  gateway_ = nullptr;  // its threads end before the variable does
}

}  // namespace
}  // namespace sluice::testing
