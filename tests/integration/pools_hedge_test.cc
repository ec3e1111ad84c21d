// A second attempt beside one that is slow to begin its answer: one of them serves, the other one
// is ended at its engine, and the books say so all the while.

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

#include "tests/integration/pools_fixture.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

class PoolsHedgeTest : public PoolsTest {
 protected:
  void StartHedging() {
    StartTwo([](config::Pool& pool) {
      pool.hedge = {.after = milliseconds(20), .ratio = 1};
      pool.health.consecutive_failures = 1;
    });
  }

  pb::CheckLeaksResponse::Reading ReadBooks(const std::string& name) {
    grpc::ClientContext context;
    pb::CheckLeaksResponse books;
    EXPECT_TRUE(observer().CheckLeaks(&context, {}, &books).ok());
    for (const auto& reading : books.readings()) {
      if (reading.name() == name) return reading;
    }
    ADD_FAILURE() << "no reading " << name;
    return {};
  }

  void ExpectBooks(const std::string& name, int64_t count) {
    const auto reading = ReadBooks(name);
    EXPECT_EQ(reading.booked(), count) << name;
    EXPECT_EQ(reading.counted(), count) << name;
  }
};

TEST_F(PoolsHedgeTest, ServesFromTheOtherEndpointAndEndsTheSlowOne) {
  StartHedging();
  engine_->AnswerAll(Script().SseHead().Chunk(": thinking\n\n").Hold());
  second_->AnswerAll(GoodStream());
  for (uint64_t i = 1; i <= 3; ++i) {
    const Outcome outcome = Run();
    ExpectPassed(outcome, GoodBody());
    if (outcome.attempts() == "-") continue;  // began at the fast one
    EXPECT_EQ(outcome.attempts(), "hedge_lost -");
    EXPECT_EQ(outcome.record().attempts.back().endpoint, Name("b"));
  }
  EXPECT_TRUE(engine_->WaitForCancelled(engine_->counts().requests));
  EXPECT_GE(engine_->counts().requests, 1u);
  ExpectBooks("endpoint leases", 0);
  EXPECT_EQ(second_->counts().requests, 3u)
      << "the slow one was not ejected for it, nor b asked more";
}

TEST_F(PoolsHedgeTest, ServesFromTheFirstWhenThatBeginsAfterAll) {
  StartHedging();
  engine_->AnswerAll(Script().Gate("begin").SseHead().Chunk(GoodBody()).LastChunk());
  second_->AnswerAll(Script().Hold());
  RawClient client = Ask();
  ASSERT_TRUE(second_->WaitForRequests(1));
  ExpectBooks("endpoint leases", 2);
  engine_->OpenGate("begin");
  const absl::StatusOr<RawResponse> response = client.ReadResponse();
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, GoodBody());
  EXPECT_TRUE(second_->WaitForCancelled(1));
  const FinishedExchange finished = Finished();
  EXPECT_EQ(finished.record.attempts.back().endpoint, Name("a"));
  EXPECT_EQ(finished.record.subject->attempt, 1);
}

TEST_F(PoolsHedgeTest, AClientThatLeavesEndsBoth) {
  StartHedging();
  engine_->AnswerAll(Script().Hold());
  second_->AnswerAll(Script().SseHead().Hold());
  RawClient client = Ask();
  ASSERT_TRUE(engine_->WaitForRequests(1));
  ASSERT_TRUE(second_->WaitForRequests(1));
  client.Close();
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_TRUE(second_->WaitForCancelled(1));
  EXPECT_EQ(Finished().record.cause, Cause::kClientGone);
  ExpectBooks("endpoint leases", 0);
  EXPECT_TRUE(Eventually([&] {
    const auto fibers = ReadBooks("fibers");
    return fibers.booked() == fibers.counted();
  }));
}

TEST_F(PoolsHedgeTest, AnEndpointDrainsOnlyOnceItsAttemptHasEnded) {
  StartHedging();
  engine_->AnswerAll(Script().Hold());
  second_->AnswerAll(Script().Gate("begin").SseHead().Chunk(GoodBody()).LastChunk());
  RawClient client = Ask();
  ASSERT_TRUE(second_->WaitForRequests(1));
  for (const char* endpoint : {"a", "b"}) EXPECT_EQ(InFlightAt(endpoint), 1) << endpoint;
  second_->OpenGate("begin");
  EXPECT_TRUE(client.ReadResponse().ok());
  for (const char* endpoint : {"a", "b"}) {
    EXPECT_TRUE(Eventually([&] { return InFlightAt(endpoint) == 0; })) << endpoint;
  }
}

}  // namespace
}  // namespace sluice::testing
