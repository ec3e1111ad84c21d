// An operator lists, looks into, tails and ends streams, over a real channel.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"

#include "tests/integration/steer_fixture.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SteerTest, ShowsAStreamWhileItRunsAndAfterwards) {
  StartAll();
  engine_->Enqueue(OneEventThenGate());
  RawClient client = StreamingClient();
  const pb::Exchange running = WaitForRunning(pb::PHASE_RELAY);
  EXPECT_EQ(running.model(), "m1");
  EXPECT_EQ(running.pool(), "chat");
  EXPECT_EQ(running.endpoint(), kEndpointA);
  EXPECT_EQ(running.attempt(), 1);
  EXPECT_EQ(running.frames(), 1);
  EXPECT_EQ(running.client_bytes(), static_cast<int64_t>(ContentEvent("a").size()));
  EXPECT_TRUE(running.has_ttft());
  EXPECT_TRUE(running.has_since_last_piece());
  EXPECT_FALSE(running.has_finished());
  EXPECT_FALSE(running.has_usage());
  EXPECT_EQ(running.attempts_size(), 0) << "only in GetExchange";

  engine_->OpenGate("more");
  EXPECT_TRUE(
      client.ReadUntil([](absl::string_view unread) { return absl::StrContains(unread, "[DONE]"); })
          .ok());
  EXPECT_TRUE(Eventually([&] { return gateway_->in_flight() == 0; }));
  const pb::Exchange over = Get(running.id());
  EXPECT_EQ(over.phase(), pb::PHASE_FINISHED);
  EXPECT_EQ(over.finished().cause(), pb::CAUSE_COMPLETED);
  EXPECT_EQ(over.usage().completion_tokens(), 2);
  ASSERT_EQ(over.attempts_size(), 1);
  EXPECT_EQ(over.attempts(0).endpoint(), kEndpointA);
  EXPECT_TRUE(over.attempts(0).has_took());
  int64_t gaps = 0;
  for (const auto& bucket : over.gaps().buckets()) gaps += bucket.count();
  EXPECT_EQ(gaps, 2) << "between three frames";
  EXPECT_FALSE(over.has_since_last_piece());
}

TEST_F(SteerTest, ListsInPagesWhatTheFiltersSelect) {
  StartAll();
  engine_->AnswerAll(Script().Json("{}"));
  for (int i = 0; i < 5; ++i) Exchange(ChatRequest(false));
  Exchange(GetRequest("/nothing"));  // names no model
  pb::ListExchangesRequest request;
  request.add_models("m1");
  request.add_models("m2");
  request.set_page_size(2);
  std::vector<std::string> ids;
  std::vector<int> pages;
  do {
    const pb::ListExchangesResponse page = List(request);
    EXPECT_EQ(page.total_size(), 5);
    pages.push_back(page.exchanges_size());
    for (const pb::Exchange& exchange : page.exchanges()) ids.push_back(exchange.id());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(pages, ElementsAre(2, 2, 1));
  EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend())) << "the latest first";
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << "none twice";

  pb::ListExchangesRequest nobody;
  nobody.add_causes(pb::CAUSE_IDLE_TIMEOUT);
  EXPECT_EQ(List(nobody).total_size(), 0);
  pb::ListExchangesRequest live;
  live.set_selection(pb::ListExchangesRequest::SELECTION_LIVE);
  EXPECT_EQ(List(live).total_size(), 0);
}

TEST_F(SteerTest, RefusesIdsPagesAndReasonsThatAreNone) {
  StartAll();
  EXPECT_EQ(Cancel("nonsense").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Cancel("x0000000000000001").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Cancel("x0000000000000001", std::string(257, 'x')).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext context;
  pb::ListExchangesRequest request;
  request.set_page_token("zebra");
  pb::ListExchangesResponse response;
  EXPECT_EQ(observer_->ListExchanges(&context, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// Cancel, in every phase.

struct CancelledPhase {
  std::string name;
  Script script;  // stands at the gate "here"
  pb::Phase phase;
  bool streams = true;
  std::string sent = "";  // of the body, before
};

class SteerCancelTest : public SteerTest, public ::testing::WithParamInterface<CancelledPhase> {};

TEST_P(SteerCancelTest, EndsTheExchangeForClientAndUpstream) {
  const CancelledPhase& phase = GetParam();
  StartAll();
  engine_->AnswerAll(phase.script);
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest(phase.streams)).ok());
  ASSERT_TRUE(engine_->WaitAtGate("here"));
  const pb::Exchange running = WaitForRunning(phase.phase);
  EXPECT_TRUE(Cancel(running.id(), "burns GPU").ok());

  const RawResponse answer = client.ReadResponse().value_or(RawResponse());
  if (phase.phase != pb::PHASE_RELAY) {
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.complete());
    EXPECT_THAT(answer.body, HasSubstr("\"error\""));
  } else if (phase.streams) {
    EXPECT_TRUE(answer.complete());
    EXPECT_THAT(answer.body, ::testing::StartsWith(phase.sent + "data: {\"error\":"));
    EXPECT_THAT(answer.body, ::testing::Not(HasSubstr("[DONE]")));
  } else {
    EXPECT_FALSE(answer.complete()) << "a body with a length cannot end well";
  }
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_EQ(engine_->counts().requests, 1u) << "no second attempt";
  ASSERT_TRUE(Eventually([&] { return gateway_->in_flight() == 0; }));
  const pb::Exchange over = Get(running.id());
  EXPECT_EQ(over.finished().cause(), pb::CAUSE_CANCELLED_BY_OPERATOR);
  EXPECT_THAT(over.finished().detail(), HasSubstr("127.0.0.1"));
  EXPECT_THAT(over.finished().detail(), HasSubstr("burns GPU"));
  EXPECT_TRUE(over.finished().has_cancel_latency());
  EXPECT_EQ(Cancel(running.id()).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

INSTANTIATE_TEST_SUITE_P(
    , SteerCancelTest,
    ::testing::Values(
        CancelledPhase{"BeforeTheHead", Script().Gate("here"), pb::PHASE_ATTEMPT},
        CancelledPhase{"InTheHold", Script().SseHead().Chunk(": ping\n\n").Gate("here"),
                       pb::PHASE_HOLD},
        CancelledPhase{"InTheStream", Script().SseHead().Chunk(ContentEvent("a")).Gate("here"),
                       pb::PHASE_RELAY, true, ContentEvent("a")},
        CancelledPhase{"InsideAnEvent",
                       Script().SseHead().Chunk(ContentEvent("a") + "data: {").Gate("here"),
                       pb::PHASE_RELAY, true, ContentEvent("a") + "data: {\n\n"},
        CancelledPhase{"BeforeAUnaryAnswer", Script().Gate("here"), pb::PHASE_ATTEMPT, false},
        CancelledPhase{"InAUnaryAnswer",
                       Script().Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{").Gate("here"),
                       pb::PHASE_RELAY, false}),
    [](const auto& instance) { return instance.param.name; });

// Tail.

TEST_F(SteerTest, TailsTheFramesOfAStreamToItsEnd) {
  StartAll();
  engine_->Enqueue(OneEventThenGate());
  RawClient client = StreamingClient();
  const pb::Exchange running = WaitForRunning(pb::PHASE_RELAY);
  grpc::ClientContext context;
  pb::TailExchangeRequest request;
  request.set_id(running.id());
  auto tail = observer_->TailExchange(&context, request);
  pb::TailExchangeResponse response;
  ASSERT_TRUE(tail->Read(&response)) << "the first response comes at once";
  EXPECT_THAT(response.frames(), IsEmpty()) << "what passed before is gone";

  engine_->OpenGate("more");
  std::vector<std::string> data;
  while (tail->Read(&response)) {
    for (const auto& frame : response.frames()) data.push_back(frame.data());
  }
  EXPECT_TRUE(tail->Finish().ok());
  ASSERT_EQ(data.size(), 2u);
  EXPECT_THAT(data[0], HasSubstr("\"completion_tokens\":2"));
  EXPECT_EQ(data[1], "[DONE]");
  EXPECT_EQ(response.cause(), pb::CAUSE_COMPLETED);
  grpc::ClientContext again;
  auto late = observer_->TailExchange(&again, request);
  EXPECT_FALSE(late->Read(&response));
  EXPECT_EQ(late->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(SteerTest, ATailThatIsNeverReadHoldsNothingUp) {
  StartAll();
  const std::string event = ContentEvent(std::string(60'000, 'x'));
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(ContentEvent("a"))
                       .Gate("more")
                       .Repeat(400, Script().Chunk(event))
                       .Chunk(kDoneEvent)
                       .LastChunk());
  RawClient client = StreamingClient();
  grpc::ClientContext context;
  pb::TailExchangeRequest request;
  request.set_id(WaitForRunning(pb::PHASE_RELAY).id());
  auto tail = observer_->TailExchange(&context, request);
  pb::TailExchangeResponse response;
  ASSERT_TRUE(tail->Read(&response));
  engine_->OpenGate("more");
  EXPECT_TRUE(client
                  .ReadUntil([](absl::string_view unread) {
                    return absl::EndsWith(unread, "\r\n0\r\n\r\n");
                  })
                  .ok());
  EXPECT_TRUE(Eventually([&] { return gateway_->in_flight() == 0; }));

  int64_t told = 0;
  int64_t next = 1;
  while (tail->Read(&response)) {
    told += response.lost() + response.frames_size();
    next += response.lost();
    for (const auto& frame : response.frames()) EXPECT_EQ(frame.index(), next++);
  }
  EXPECT_TRUE(tail->Finish().ok());
  EXPECT_EQ(told, 401) << "each frame came or was stated as lost, in its place";
}

}  // namespace
}  // namespace sluice::testing
