// Who waits for a place in a pool, in which order, and what lets them in.

#include <fstream>
#include <openssl/sha.h>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "tests/integration/pools_fixture.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

class PoolsQueueTest : public PoolsTest {
 protected:
  static Script StreamThatWaits(absl::string_view gate) {
    return Script()
        .SseHead()
        .Chunk(ContentEvent("a"))
        .Gate(gate)
        .Chunk(absl::StrCat(FinishEvent(), kDoneEvent))
        .LastChunk();
  }

  pb::PoolStatus ReadPool() {
    grpc::ClientContext context;
    pb::ListEndpointsResponse response;
    EXPECT_TRUE(observer().ListEndpoints(&context, {}, &response).ok());
    EXPECT_EQ(response.pools_size(), 1);
    return response.pools_size() == 1 ? response.pools(0) : pb::PoolStatus();
  }

  /// A line of the clients' keys: the key is "sk-" and the name.
  static std::string KeyLine(const std::string& principal) {
    const std::string key = absl::StrCat("sk-", principal);
    unsigned char hash[SHA256_DIGEST_LENGTH];
    ::SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), hash);
    return absl::StrCat(
        principal, " ",
        absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash), sizeof hash)),
        "\n");
  }
  static std::string RequestOf(const std::string& principal) {
    return ChatRequest(true, absl::StrCat("Authorization: Bearer sk-", principal,
                                          "\r\nX-Who: ", principal, "\r\n"));
  }
};

TEST_F(PoolsQueueTest, ServesThePrincipalOfTheHighestPriorityFirst) {
  const TempDirectory directory;
  client_keys_ = directory.path() + "/keys";
  std::ofstream(client_keys_) << KeyLine("low") << KeyLine("usual") << KeyLine("high");
  StartOne([](config::Config& config) {
    config.pools[0].max_in_flight = 1;
    config.pools[0].queue.capacity = 3;
    config.principals = {{.id = "low", .priority = -1}, {.id = "high", .priority = 1}};
  });
  engine_->Enqueue(StreamThatWaits("first"));
  RawClient first = AskAndReadHead(nullptr, RequestOf("usual"));
  engine_->AnswerAll(GoodStream());
  std::vector<RawClient> waiting;
  for (const char* principal : {"low", "usual", "high"}) {
    waiting.push_back(Ask(RequestOf(principal)));
    ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, static_cast<int64_t>(waiting.size())));
  }
  EXPECT_EQ(ReadPool().waiting(), 3);
  EXPECT_EQ(ReadPool().in_flight(), 1) << "who waits is not in flight";

  engine_->OpenGate("first");
  for (RawClient& client : waiting) EXPECT_EQ(client.ReadResponse().value().body, GoodBody());
  std::string order;
  for (const EngineRequest& seen : engine_->requests()) {
    absl::StrAppend(&order, seen.HeaderValues("X-Who").front(), " ");
  }
  EXPECT_EQ(order, "usual high usual low ");
  EXPECT_TRUE(Eventually([&] { return ReadPool().waiting() == 0; }));
  gateway_ = nullptr;  // it looks at the file no more
}

TEST_F(PoolsQueueTest, AConfigurationWithMoreRoomLetsInWhoWaits) {
  StartOne([](config::Config& config) {
    config.pools[0].endpoints[0].max_in_flight = 1;
    config.pools[0].queue.capacity = 1;
  });
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  RawClient first = AskAndReadHead();
  RawClient second = Ask();
  ASSERT_TRUE(WaitForPhase(pb::PHASE_QUEUE, 1));

  second_ = StartEngine();
  second_->AnswerAll(GoodStream());
  pb::AddEndpointRequest request;
  request.set_pool("chat");
  request.mutable_endpoint()->set_id("b");
  request.mutable_endpoint()->set_uri(second_->uri());
  grpc::ClientContext context;
  pb::Config after;
  const grpc::Status status = control().AddEndpoint(&context, request, &after);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const absl::StatusOr<RawResponse> served = second.ReadResponse();
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->body, GoodBody());
  EXPECT_EQ(engine_->counts().requests, 1u);
}

TEST_F(PoolsQueueTest, AStreamThatSpendsItsPrincipalsTokensEndsAndLeavesItsPlace) {
  StartOne([](config::Config& config) {
    config.pools[0].max_in_flight = 1;
    config.principals = {
        {.id = "*", .rates = {{.model = "m1", .tokens_per_minute = 10}}, .end_streams = true}};
  });
  const std::string begun = absl::StrCat(ContentEvent("a"), UsageEvent(5, 6), ContentEvent("b"));
  const Outcome outcome = RunScript(Script().SseHead().Chunk(begun).Hold());
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_EQ(outcome.cause(), "over_limit");
  EXPECT_THAT(outcome.response.body,
              ::testing::StartsWith(absl::StrCat(ContentEvent("a"), ContentEvent("b"))));
  EXPECT_THAT(outcome.response.body, ::testing::HasSubstr(R"("code":"over_limit")"));
  EXPECT_THAT(outcome.response.body, ::testing::Not(::testing::HasSubstr("[DONE]")));
  EXPECT_TRUE(engine_->WaitForCancelled(1));
  EXPECT_EQ(ReadPool().in_flight(), 0);

  ExpectError(Run(), 429, "over_limit");
  ExpectPassed(RunScript(GoodStream(),
                         PostRequest("/v1/chat/completions", R"({"model":"m2","messages":[]})")),
               GoodBody());
}

}  // namespace
}  // namespace sluice::testing
