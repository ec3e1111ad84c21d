// Who may call, how much, and how many at once.

#include <cstdio>
#include <fstream>
#include <openssl/sha.h>
#include <string>

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

}  // namespace
}  // namespace sluice::testing
