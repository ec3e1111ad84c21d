// How a stream that breaks after the commit ends, for every way to break and in both dialects.

#include <string>
#include <tuple>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

/// What the upstream does behind its first event and the test's leave.
struct Break {
  std::string name;
  Script script;
  Cause cause;
  std::string passed = {};  // of the body, behind the first event
  bool inside_event = false;
  bool chunked = true;

  friend void PrintTo(const Break& value, std::ostream* out) { *out << value.name; }
};

struct Speech {
  std::string name;
  std::string path;
  std::string first_event;
  std::string error_start;

  friend void PrintTo(const Speech& value, std::ostream* out) { *out << value.name; }
};

const std::string kHalf = R"(data: {"half)";

const Break kBreaks[] = {
    {"Reset", Script().Reset(), Cause::kUpstreamReset},
    {"EofBetweenEvents", Script().Fin(), Cause::kTruncated},
    {"EofInsideAChunk", Script().HalfChunk(kHalf, 100).Fin(), Cause::kTruncated, kHalf, true},
    {"EofInsideAnEvent", Script().Chunk(kHalf).LastChunk(), Cause::kTruncated, kHalf, true},
    {"EofBehindALineOfAnEvent", Script().Chunk(kHalf + "\n").LastChunk(), Cause::kTruncated,
     kHalf + "\n", true},
    {"EofInsideAComment", Script().Chunk(": ping").LastChunk(), Cause::kTruncated, ": ping", true},
    {"EofBehindAComment", Script().Chunk(": ping\n\n").LastChunk(), Cause::kTruncated,
     ": ping\n\n"},
    {"EndWithoutAnEndMarker", Script().LastChunk(), Cause::kTruncated},
    {"MalformedChunkSize", Script().Raw("xyz\r\n"), Cause::kUpstreamProtocol},
    {"WrongBytesBehindAChunk", Script().Raw("2\r\n: XX"), Cause::kUpstreamProtocol, ": ", true},
    {"ContentLengthShort", Script().Fin(), Cause::kTruncated, "", false, false},
    {"Silence", Script().Hold(), Cause::kIdleTimeout},
    {"SilenceInsideAnEvent", Script().Chunk(kHalf).Hold(), Cause::kIdleTimeout, kHalf, true},
};

const Speech kSpeeches[] = {
    {"OpenAi", "/v1/chat/completions", ContentEvent("a"), "data: {\"error\":{"},
    {"Anthropic", "/v1/messages",
     "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
     "event: error\ndata: {\"type\":\"error\",\"error\":{"},
};

class StreamEndTest : public CaseTest,
                      public ::testing::WithParamInterface<std::tuple<Break, Speech>> {};

TEST_P(StreamEndTest, IsOneErrorEventInTheDialect) {
  const auto& [broken, speech] = GetParam();
  StartOne([broken = broken](config::Config& config) {
    // Where silence is the break, it is short; where not, it must not be.
    if (broken.cause == Cause::kIdleTimeout) config.pools[0].timeouts.idle = milliseconds(30);
  });
  Script script;
  if (broken.chunked) {
    script.SseHead().Chunk(speech.first_event);
  } else {
    script.Raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\n")
        .Piece(speech.first_event);
  }
  if (broken.cause != Cause::kIdleTimeout) script.Gate("break");
  engine_->Enqueue(script.Repeat(1, broken.script));
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(PostRequest(speech.path, R"({"model":"m1","stream":true})")).ok());
  ASSERT_TRUE(client
                  .ReadUntil([&first = speech.first_event](absl::string_view unread) {
                    return absl::StrContains(unread, first);
                  })
                  .ok());
  engine_->OpenGate("break");

  const RawResponse response = client.ReadResponse().value_or(RawResponse());
  EXPECT_TRUE(response.complete());
  const std::string start = absl::StrCat(speech.first_event, broken.passed,
                                         broken.inside_event ? "\n\n" : "", speech.error_start);
  EXPECT_EQ(response.body.substr(0, start.size()), start);
  const std::string error = response.body.substr(start.size() - speech.error_start.size());
  EXPECT_EQ(error.find("\n\n"), error.size() - 2) << "one event: " << error;
  EXPECT_THAT(error, HasSubstr(InfoOf(broken.cause).message));
  EXPECT_THAT(response.body, Not(HasSubstr("[DONE]")));
  EXPECT_THAT(response.body, Not(HasSubstr("message_stop")));

  const FinishedExchange finished = Finished();
  EXPECT_EQ(finished.record.cause, broken.cause);
  EXPECT_EQ(finished.done, 0);
  EXPECT_NE(finished.record.provenance, Provenance::kReported);
  EXPECT_EQ(finished.record.bytes_to_client, response.body.size());
  // A connection that ended in order may be used again, whatever it carried.
  if (!absl::StartsWith(broken.name, "E") || absl::StartsWith(broken.name, "EofInsideAChunk")) {
    ExpectNoReuse();
  }
}

INSTANTIATE_TEST_SUITE_P(, StreamEndTest,
                         ::testing::Combine(::testing::ValuesIn(kBreaks),
                                            ::testing::ValuesIn(kSpeeches)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + "In" +
                                  std::get<1>(instance.param).name;
                         });

}  // namespace
}  // namespace sluice::testing
