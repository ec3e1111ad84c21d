// Cases on usage and on limits of time (ids B058 to B068, B087 to B091).

#include <string>
#include <vector>

#include "absl/strings/str_join.h"

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

/// A stream whose usage is read: the path it answers, its events, and what comes of it.
struct UsageStream {
  std::string name;
  std::string path;
  std::vector<std::string> events;
  std::string usage;

  friend void PrintTo(const UsageStream& value, std::ostream* out) { *out << value.name; }
};

constexpr char kChat[] = "/v1/chat/completions";
constexpr char kMessages[] = "/v1/messages";

std::string WithUsage(absl::string_view content, absl::string_view usage) {
  return absl::StrCat(R"(data: {"choices":[{"index":0,"delta":{"content":")", content,
                      R"("}}],"usage":)", usage, "}\n\n");
}
std::string Tokens(absl::string_view prompt, absl::string_view completion) {
  return absl::StrCat(R"({"prompt_tokens":)", prompt, R"(,"completion_tokens":)", completion, "}");
}
std::string MessageStart(absl::string_view usage) {
  return absl::StrCat("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{",
                      "\"usage\":", usage, "}}\n\n");
}
std::string MessageDelta(absl::string_view more) {
  return absl::StrCat("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{}", more,
                      "}\n\n");
}

const std::string kDone = std::string(kDoneEvent);
const std::string kStop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

class UsageCases : public CaseTest, public ::testing::WithParamInterface<UsageStream> {};

TEST_P(UsageCases, AreRecordedAsReported) {
  StartOne();
  const Outcome outcome =
      RunScript(Script().SseHead().Chunks(GetParam().events, milliseconds(1)).LastChunk(),
                PostRequest(GetParam().path, R"({"model":"m1","stream":true})"));
  ExpectPassed(outcome, absl::StrJoin(GetParam().events, ""));
  EXPECT_EQ(outcome.usage(), GetParam().usage);
  EXPECT_EQ(outcome.record().provenance,
            GetParam().usage == "none" ? Provenance::kAbsent : Provenance::kReported);
}

INSTANTIATE_TEST_SUITE_P(
    , UsageCases,
    ::testing::Values(
        UsageStream{"B058_InTheLastContentChunk",
                    kChat,
                    {ContentEvent("a"),
                     "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
                     "\"usage\":{\"prompt_tokens\":6,\"completion_tokens\":1}}\n\n",
                     kDone},
                    "6/1"},
        UsageStream{"B059_NullUntilTheLast",
                    kChat,
                    {WithUsage("a", "null"), WithUsage("b", "null"), UsageEvent(6, 2), kDone},
                    "6/2"},
        UsageStream{"B060_InEveryChunk",
                    kChat,
                    {WithUsage("1", Tokens("6", "1")), WithUsage("2", Tokens("6", "2")),
                     WithUsage("3", Tokens("6", "3")), UsageEvent(6, 5), kDone},
                    "6/5"},
        UsageStream{"B064_AnthropicsLastDeltaCounts",
                    kMessages,
                    {MessageStart(R"({"input_tokens":20,"output_tokens":1})"),
                     MessageDelta(R"(,"usage":{"output_tokens":5})"),
                     MessageDelta(R"(,"usage":{"output_tokens":12})"), kStop},
                    "20/12"},
        UsageStream{"B065_AnthropicsCacheCountsAreOfThePrompt",
                    kMessages,
                    {MessageStart(R"({"input_tokens":20,"cache_read_input_tokens":7,)"
                                  R"("cache_creation_input_tokens":3,"output_tokens":1})"),
                     kStop},
                    "30/1"},
        UsageStream{
            "B065_ADeltaWithoutUsage",
            kMessages,
            {MessageStart(R"({"input_tokens":20,"output_tokens":1})"), MessageDelta(""), kStop},
            "20/1"},
        UsageStream{"B065_Float", kChat, {WithUsage("a", Tokens("1.5", "2")), kDone}, "none"},
        UsageStream{"B065_Negative", kChat, {WithUsage("a", Tokens("-1", "2")), kDone}, "none"},
        UsageStream{"B065_Huge", kChat, {WithUsage("a", Tokens("1e30", "2")), kDone}, "none"},
        UsageStream{"B065_String", kChat, {WithUsage("a", Tokens("\"5\"", "2")), kDone}, "none"},
        UsageStream{"B068_OfAnIncompleteResponse",
                    "/v1/responses",
                    {"event: response.incomplete\ndata: {\"type\":\"response.incomplete\","
                     "\"response\":{\"status\":\"incomplete\",\"usage\":{\"input_tokens\":64,"
                     "\"output_tokens\":1500}}}\n\n"},
                    "64/1500"}),
    [](const auto& instance) { return instance.param.name; });

class UsageLeftCases : public CaseTest {};

TEST_F(UsageLeftCases, B060_AStreamCutAfterSomeUsageIsPartial) {
  StartOne();
  const std::string body =
      absl::StrCat(WithUsage("1", Tokens("6", "1")), WithUsage("2", Tokens("6", "2")),
                   WithUsage("3", Tokens("6", "3")));
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).Fin());
  ExpectBrokenOff(outcome, body, Cause::kTruncated);
  EXPECT_EQ(outcome.usage(), "6/3");
  EXPECT_EQ(outcome.record().provenance, Provenance::kPartial);
}

TEST_F(UsageLeftCases, B062_ARequestReachesTheUpstreamAsItWasWritten) {
  StartOne();
  const std::string body =
      "{ \"stream\" :true,\t\"messages\":[],\n \"zeta\":1.50,\"model\":\"m1\"  }\n";
  const std::string answer = absl::StrCat(ContentEvent("a"), UsageEvent(1, 1), kDoneEvent);
  const Outcome outcome =
      RunScript(Script().SseHead().Chunk(answer).LastChunk(), PostRequest(kChat, body));
  ExpectPassed(outcome, answer);
  EXPECT_EQ(engine_->requests().at(0).body, body);
}

TEST_F(UsageLeftCases, B062_ThePoolAsksForUsageAndHidesTheChunk) {
  StartOne([](config::Config& config) { config.pools[0].ask_usage = true; });
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(WithUsage("a", "null"))
                       .Gate("rest")
                       .Chunk(absl::StrCat(FinishEvent(), UsageEvent(7, 3).substr(0, 20)))
                       .Chunk(absl::StrCat(UsageEvent(7, 3).substr(20), kDoneEvent))
                       .LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(
      client
          .Send(PostRequest(kChat, "{ \"stream\" :true,\t\"messages\":[],\n \"model\":\"m1\"  }\n"))
          .ok());
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), WithUsage("a", "null"));
  engine_->OpenGate("rest");
  std::string rest;
  for (absl::StatusOr<std::string> chunk = client.ReadChunk(); chunk.ok() && !chunk->empty();
       chunk = client.ReadChunk()) {
    rest += *chunk;
  }
  EXPECT_EQ(rest, absl::StrCat(FinishEvent(), kDoneEvent));
  EXPECT_EQ(engine_->requests().at(0).body,
            "{\"stream_options\":{\"include_usage\":true}, \"stream\" :true,\t\"messages\":[],\n "
            "\"model\":\"m1\"  }\n");
  const FinishedExchange finished = Finished();
  EXPECT_EQ(finished.record.usage->prompt_tokens, 7);
  EXPECT_EQ(finished.record.usage->completion_tokens, 3);
  EXPECT_EQ(finished.record.provenance, Provenance::kReported);
  EXPECT_EQ(finished.record.dropped_bytes, UsageEvent(7, 3).size());
  EXPECT_EQ(finished.done, 1);
}

TEST_F(UsageLeftCases, B062_AClientWhoAsksGetsTheChunk) {
  StartOne([](config::Config& config) { config.pools[0].ask_usage = true; });
  const std::string body =
      R"({"model":"m1","stream":true,"stream_options": {"include_usage":true}})";
  const std::string answer = absl::StrCat(ContentEvent("a"), UsageEvent(7, 3), kDoneEvent);
  const Outcome outcome =
      RunScript(Script().SseHead().Chunk(answer).LastChunk(), PostRequest(kChat, body));
  ExpectPassed(outcome, answer);
  EXPECT_EQ(outcome.usage(), "7/3");
  EXPECT_EQ(engine_->requests().at(0).body, body);
}

TEST_F(UsageLeftCases, B066_AClientGoneInTheLastMomentLeavesOneTrueRecord) {
  StartOne();
  Script script = Script().SseHead();
  for (int i = 0; i < 29; ++i) script.Chunk(ContentEvent(absl::StrCat(i)));
  engine_->Enqueue(script.Gate("rest").Chunk(UsageEvent(5, 30)).Chunk(kDoneEvent).LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client
                  .ReadUntil([](absl::string_view unread) {
                    return absl::StrContains(unread, ContentEvent("28"));
                  })
                  .ok());
  client.Close();
  const FinishedExchange finished = Finished();
  EXPECT_EQ(finished.record.cause, Cause::kClientGone);
  EXPECT_EQ(finished.record.frames, 29u);
  EXPECT_EQ(finished.record.usage, std::nullopt) << "never reported, and never 0/0";
  EXPECT_EQ(finished.done, 0);
}

// Each limit alone, in milliseconds; all others are far away.
class TimeCases : public CaseTest {};

TEST_F(TimeCases, B087_TheIdleLimitDoesNotCutALongPrefill) {
  StartOne([](config::Config& config) { config.pools[0].timeouts.idle = milliseconds(30); });
  const std::string body = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);
  ExpectPassed(RunScript(Script().Pause(milliseconds(120)).SseHead().Chunk(body).LastChunk()),
               body);
}

TEST_F(TimeCases, B088_SilenceInMidStreamEndsIt) {
  StartOne([](config::Config& config) { config.pools[0].timeouts.idle = milliseconds(30); });
  const Outcome outcome = RunScript(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  ExpectBrokenOff(outcome, ContentEvent("a"), Cause::kIdleTimeout);
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

TEST_F(TimeCases, B088_CommentsAreNoEventsForTheFrameLimit) {
  StartOne([](config::Config& config) { config.pools[0].timeouts.frame_idle = milliseconds(60); });
  const Outcome outcome =
      RunScript(Script()
                    .SseHead()
                    .Chunk(ContentEvent("a"))
                    .Repeat(kForever, Script().Chunk(": ping\n\n").Pause(milliseconds(10))));
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_TRUE(absl::StartsWith(outcome.response.body, ContentEvent("a")));
  EXPECT_TRUE(absl::EndsWith(outcome.response.body, ErrorEventOf(Cause::kFrameIdleTimeout)))
      << outcome.response.body;
  EXPECT_EQ(outcome.cause(), "frame_idle_timeout");
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

TEST_F(TimeCases, B090_CommentsAreRelayedOnceTheyWereHeldForLong) {
  StartOne(
      [](config::Config& config) { config.pools[0].timeouts.hold_keepalive = milliseconds(20); });
  engine_->Enqueue(
      Script().SseHead().Chunk(": ping\n\n").Gate("rest").Chunk(kDoneEvent).LastChunk());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(client.ReadHead().ok());
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), ": ping\n\n");
  engine_->OpenGate("rest");
  EXPECT_EQ(client.ReadChunk().value_or("nothing"), kDoneEvent);
}

TEST_F(TimeCases, B091_FirstFrameLimitBeforeTheHead) {
  StartOne([](config::Config& config) { config.pools[0].timeouts.first_frame = milliseconds(30); });
  ExpectError(RunScript(Script().Hold()), 504, "first_frame_timeout");
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

TEST_F(TimeCases, B091_FirstFrameLimitInTheHold) {
  StartOne([](config::Config& config) { config.pools[0].timeouts.first_frame = milliseconds(30); });
  ExpectError(RunScript(Script().SseHead().Chunk(": ping\n\n").Hold()), 504, "first_frame_timeout");
  EXPECT_TRUE(engine_->WaitForCancelled(1));
}

TEST_F(TimeCases, B091_HoldBudgetOverAllAttempts) {
  StartTwo([](config::Pool& pool) { pool.timeouts.hold_budget = milliseconds(30); });
  engine_->Enqueue(Script().Hold());
  ExpectError(Run(), 504, "hold_budget_spent");
  EXPECT_EQ(second_->counts().requests, 0u);
}

}  // namespace
}  // namespace sluice::testing
