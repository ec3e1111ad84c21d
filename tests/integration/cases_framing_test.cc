// Cases on the framing of events and on encodings (ids B001 to B024, B127, B129).

#include <string>
#include <vector>

#include "absl/strings/str_join.h"

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

class FramingCases : public CaseTest {};

std::string AnthropicRequest() {
  return PostRequest("/v1/messages", R"({"model":"m1","stream":true,"messages":[]})");
}

const std::string kStart =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\","
    "\"usage\":{\"input_tokens\":20,\"output_tokens\":1}}}\n\n";
const std::string kDelta =
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n";
const std::string kStop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// A passing stream: its blocks, and how many of them are events.
struct Passing {
  std::string name;
  std::vector<std::string> blocks;
  uint64_t frames;
  std::string usage = "none";

  friend void PrintTo(const Passing& value, std::ostream* out) { *out << value.name; }
};

class PassingStreams : public FramingCases, public ::testing::WithParamInterface<Passing> {};

TEST_P(PassingStreams, PassWithTheirEventsAndUsage) {
  StartOne();
  const Outcome outcome =
      RunScript(Script().SseHead().Chunks(GetParam().blocks, milliseconds(1)).LastChunk());
  ExpectPassed(outcome, absl::StrJoin(GetParam().blocks, ""));
  EXPECT_EQ(outcome.record().frames, GetParam().frames);
  EXPECT_EQ(outcome.usage(), GetParam().usage);
}

const std::string kDone = std::string(kDoneEvent);

INSTANTIATE_TEST_SUITE_P(
    , PassingStreams,
    ::testing::Values(
        Passing{"B001_CrLfAndNoSpaceAfterTheColon",
                {"data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\r\n\r\n",
                 "data:{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
                 "\r\n\r\n",
                 "data:{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}"
                 "\r\n\r\n",
                 "data:[DONE]\r\n\r\n"},
                4,
                "7/3"},
        Passing{"B004_NoneOneAndTwoSpacesAfterTheColon",
                {"data:{\"a\":1}\n\n", "data: {\"a\":1}\n\n", "data:  {\"a\":1}\n\n",
                 "data :{\"a\":1}\n\n", FinishEvent(), kDone},
                5},
        Passing{"B005_MixedLineEnds",
                {"data: {\"a\":1}\r\r", "data: {\"a\":2}\r\n\r\n", "data: {\"a\":3}\n\n",
                 "data: [DONE]\r\n\n"},
                4},
        Passing{"B006_ByteOrderMark",
                {absl::StrCat("\xEF\xBB\xBF", ContentEvent("a")), FinishEvent(), kDone},
                3},
        Passing{"B008_CommentsAreNoEvents",
                {":\n\n", ": ping\n\n", ": ping\n\n", ContentEvent("a"), FinishEvent(), kDone},
                3},
        Passing{"B009_OneJsonOverSeveralDataLines",
                {"data: {\"choices\":[],\ndata: \"usage\":{\"prompt_tokens\":4,\ndata: "
                 "\"completion_tokens\":1}}\n\n",
                 kDone},
                2,
                "4/1"},
        Passing{"B010_TwoEventsWithoutTheBlankLineBetween",
                {"data: {\"a\":1}\ndata: {\"b\":2}\n\n", FinishEvent(), UsageEvent(2, 1), kDone},
                4,
                "2/1"},
        Passing{"B019_TwoEndMarkersAndAnEventBehind",
                {ContentEvent("a"), FinishEvent(), kDone, kDone, ContentEvent("z")},
                5},
        Passing{"B024_OtherLineSeparatorsEndNoLine",
                {ContentEvent("a\xE2\x80\xA8z"), ContentEvent("a\x85z"), "data: a\vb\fc\n\n",
                 FinishEvent(), kDone},
                5},
        Passing{
            "B129_InterleavedToolCallsCutInsideEscapes",
            {R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\u00"}},{"index":1,"function":{"arguments":"\"a\\"}}]}}]})"
             "\n\n",
             R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"}"}},{"index":0,"function":{"arguments":"e9\"}"}}]}}]})"
             "\n\n",
             FinishEvent("tool_calls"), kDone},
            4}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(FramingCases, B002_AnEventCutAnywhereIsSeenWhole) {
  StartOne();
  const std::string body =
      absl::StrCat(ContentEvent("a"), FinishEvent(), UsageEvent(7, 3), kDoneEvent);
  RawClient client = Connect();
  for (size_t cut = 1; cut < body.size(); ++cut) {
    SCOPED_TRACE(cut);
    engine_->Enqueue(Script()
                         .SseHead()
                         .Chunk(body.substr(0, cut))
                         .Pause(milliseconds(1))
                         .Chunk(body.substr(cut))
                         .LastChunk());
    ASSERT_TRUE(client.Send(ChatRequest()).ok());
    Outcome outcome;
    outcome.response = client.ReadResponse().value_or(RawResponse());
    outcome.finished = Finished(cut - 1);
    ExpectPassed(outcome, body);
    ASSERT_EQ(outcome.record().frames, 4u);
    ASSERT_EQ(outcome.usage(), "7/3");
  }
}

TEST_F(FramingCases, B127_CharactersCutAtEveryByteStayWhole) {
  StartOne();
  const std::vector<std::string> events = {ContentEvent("\xEC\x95\x88\xEB\x85\x95"),
                                           ContentEvent("\xD0\xBF\xD1\x80"),
                                           ContentEvent("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92"
                                                        "\xBB"),
                                           FinishEvent(), std::string(kDoneEvent)};
  const std::string body = absl::StrJoin(events, "");
  const Outcome outcome = RunScript(Script().SseHead().Chunks(SplitBytes(body, 1)).LastChunk());
  ExpectPassed(outcome, body);
  EXPECT_EQ(outcome.record().frames, 5u);
}

TEST_F(FramingCases, B014_ErrorEventAfterAHalfSentLineIsAnEventOfItsOwn) {
  StartOne();
  const std::string half = R"(data: {"choices":[{"delta":{"con)";
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Chunk(half).Gate("break").Reset());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(
      client.ReadUntil([&](absl::string_view unread) { return absl::StrContains(unread, half); })
          .ok());
  engine_->OpenGate("break");
  Outcome outcome;
  outcome.response = client.ReadResponse().value_or(RawResponse());
  outcome.finished = Finished();
  ExpectBrokenOff(outcome, absl::StrCat(ContentEvent("a"), half, "\n\n"), Cause::kUpstreamReset);
}

TEST_F(FramingCases, B016_ABareErrorLineSendsTheRequestElsewhere) {
  StartTwo();
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk("error: {\"code\":400,\"message\":\"ctx\"}\n\n")
                       .Chunk(kDoneEvent)
                       .LastChunk());
  const std::string good = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);
  second_->Enqueue(Script().SseHead().Chunk(good).LastChunk());
  const Outcome outcome = Run();
  ExpectPassed(outcome, good);
  EXPECT_EQ(outcome.attempts(), "upstream_error_frame -");
}

TEST_F(FramingCases, B016_ABareErrorLineOfTheOnlyEndpointIsAnError) {
  StartOne();
  const Outcome outcome = RunScript(Script()
                                        .SseHead()
                                        .Chunk("error: {\"code\":400,\"message\":\"ctx\"}\n\n")
                                        .Chunk(kDoneEvent)
                                        .LastChunk());
  ExpectError(outcome, 502, "upstream_error_frame");
}

TEST_F(FramingCases, B018_AnthropicStreamWithoutMessageStopIsCleanOnceItHasAStopReason) {
  StartOne();
  const std::string body = absl::StrCat(
      kStart, kDelta,
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
      "\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n");
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).LastChunk(), AnthropicRequest());
  ExpectPassed(outcome, body);
  EXPECT_EQ(outcome.usage(), "20/2");
}

TEST_F(FramingCases, B018_AnthropicStreamThatStopsShortIsEndedInItsDialect) {
  StartOne();
  const Outcome outcome =
      RunScript(Script().SseHead().Chunk(kStart).Chunk(kDelta).LastChunk(), AnthropicRequest());
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_TRUE(absl::StartsWith(
      outcome.response.body,
      absl::StrCat(kStart, kDelta, "event: error\ndata: {\"type\":\"error\",\"error\":")))
      << outcome.response.body;
  EXPECT_THAT(outcome.response.body, Not(HasSubstr("message_stop")));
  EXPECT_EQ(outcome.cause(), "truncated");
  EXPECT_EQ(outcome.usage(), "20/1");
  EXPECT_EQ(outcome.record().provenance, Provenance::kPartial);
}

TEST_F(FramingCases, B019_MessageStopTwiceIsOneEnd) {
  StartOne();
  const std::string body = absl::StrCat(kStart, kDelta, kStop, kStop);
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).LastChunk(), AnthropicRequest());
  ExpectPassed(outcome, body);
  EXPECT_EQ(outcome.record().frames, 4u);
}

TEST_F(FramingCases, B020_BodyLeftOpenAfterTheEndMarkerIsEnded) {
  StartOne([](config::Config& config) { config.pools[0].timeouts.idle = milliseconds(50); });
  const std::string body = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);
  const Outcome outcome = RunScript(Script().SseHead().Chunk(body).Hold());
  ExpectPassed(outcome, body);
  ExpectNoReuse();
}

}  // namespace
}  // namespace sluice::testing
