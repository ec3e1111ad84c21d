#include "admin/event_text.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr char kContext[] = R"(
  sequence: 7 time { seconds: 1767323045 nanos: 678000000 } exchange: "x5f3a09c10000002f" request_id: "r"
  model: "m1" pool: "chat" endpoint: "pools/chat/endpoints/a" attempt: 1 since_start { nanos: 12345678 } )";

v1::Event Parse(absl::string_view text) {
  v1::Event event;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(text), &event)) << text;
  return event;
}

/// The line of an event of kContext and `kind`.
std::string LineOf(absl::string_view kind) {
  return EventLine(Parse(absl::StrCat(kContext, kind)), absl::UTCTimeZone());
}

TEST(EventLineTest, ShowsEveryKindInTheSameColumns) {
  EXPECT_EQ(
      LineOf(
          R"(exchange_started { client_address: "127.0.0.1:5" method: "POST" path: "/v1/x" stream: true })"),
      "03:04:05.678  0000002f  started         m1                chat/a          "
      "POST /v1/x stream client=127.0.0.1:5\n");
  EXPECT_EQ(LineOf(R"(attempt_started { key_id: "k1" })"),
            "03:04:05.678  0000002f  attempt         m1                chat/a          attempt=1 "
            "key=k1\n");
  EXPECT_EQ(
      LineOf(R"(attempt_failed { cause: CAUSE_CONNECT_FAILED detail: "connection refused" })"),
      "03:04:05.678  0000002f  attempt_failed  m1                chat/a          "
      "attempt=1 cause=connect_failed detail=\"connection refused\"\n");
  EXPECT_EQ(LineOf("first_byte { http_status: 200 }"),
            "03:04:05.678  0000002f  first_byte      m1                chat/a          status=200 "
            "after=12ms\n");
  EXPECT_EQ(
      LineOf("first_frame { index: 0 }"),
      "03:04:05.678  0000002f  first_frame     m1                chat/a          ttft=12ms\n");
  EXPECT_EQ(LineOf("chunk { index: 3 size_bytes: 147 gap { nanos: 20000000 } }"),
            "03:04:05.678  0000002f  chunk           m1                chat/a          frame=3 "
            "gap=20ms bytes=147\n");
  EXPECT_EQ(
      LineOf("usage { prompt_tokens: 5 completion_tokens: 2 total_tokens: 7 cached_tokens: 0 }"),
      "03:04:05.678  0000002f  usage           m1                chat/a          usage=5/2/7 "
      "cached=0\n");
  EXPECT_EQ(
      LineOf(
          R"(exchange_finished { cause: CAUSE_COMPLETED http_status: 200 attempts: 1 client_bytes: 628
                      frames: 5 timings { first_frame { nanos: 12000000 } done { seconds: 1 nanos: 500000000 } }
                      usage { prompt_tokens: 5 completion_tokens: 2 total_tokens: 7 }
                      usage_provenance: USAGE_PROVENANCE_REPORTED finish_reason: "stop" })"),
      "03:04:05.678  0000002f  finished        m1                chat/a          "
      "cause=completed status=200 ttft=12ms total=1.50s frames=5 bytes=628 usage=5/2/7 "
      "finish=stop\n");
}

TEST(EventLineTest, ShowsWhatIsUnusualAtAnEnd) {
  EXPECT_EQ(
      LineOf(R"(exchange_finished { cause: CAUSE_CLIENT_GONE attempts: 2 usage { prompt_tokens: 5 }
                      usage_provenance: USAGE_PROVENANCE_PARTIAL detail: "half-closed" })"),
      "03:04:05.678  0000002f  finished        m1                chat/a          "
      "cause=client_gone frames=0 bytes=0 usage=5/0/0 (partial) attempts=2 detail=half-closed\n");
}

TEST(EventLineTest, ShowsEventsOfNoExchange) {
  v1::Event event = Parse("time { seconds: 0 } config_changed { generation: 3 etag: \"e\" }");
  EXPECT_EQ(EventLine(event, absl::UTCTimeZone()),
            "00:00:00.000  -         config_changed  -                 -               "
            "generation=3 etag=e\n");
}

TEST(EventLineTest, ShowsChangesOfStates) {
  EXPECT_EQ(EventLine(Parse(R"(time {} pool: "chat" endpoint: "pools/chat/endpoints/a"
                               endpoint_state_changed { state: STATE_DRAINING detail: "by me" })"),
                      absl::UTCTimeZone()),
            "00:00:00.000  -         endpoint_state  -                 chat/a          "
            "state=draining detail=\"by me\"\n");
  EXPECT_EQ(EventLine(Parse(R"(time {} pool: "chat" endpoint: "pools/chat/endpoints/a"
                               endpoint_state_changed { state: STATE_EJECTED until { seconds: 9 }
                                                        detail: "fails" })"),
                      absl::UTCTimeZone()),
            "00:00:00.000  -         endpoint_state  -                 chat/a          "
            "state=ejected until=00:00:09.000 detail=fails\n");
  EXPECT_EQ(EventLine(Parse(R"(time {} pool: "chat" key_state_changed { key_id: "k1"
                               state: STATE_RESTING until { seconds: 7 } })"),
                      absl::UTCTimeZone()),
            "00:00:00.000  -         key_state       -                 chat            "
            "key=k1 state=resting until=00:00:07.000\n");
  EXPECT_EQ(EventLine(Parse(R"(time {} pool: "chat"
                               key_state_changed { key_id: "k1" state: STATE_REFUSED })"),
                      absl::UTCTimeZone()),
            "00:00:00.000  -         key_state       -                 chat            "
            "key=k1 state=refused\n");
}

TEST(KindNamesTest, NamesEveryKindAsItsLineDoes) {
  const auto* oneof = v1::Event::descriptor()->FindOneofByName("kind");
  ASSERT_EQ(static_cast<int>(KindNames().size()), oneof->field_count());
  for (int i = 0; i < oneof->field_count(); ++i) {
    EXPECT_EQ(KindNames()[i].kind, i + 1);
    v1::Event event;
    event.GetReflection()->MutableMessage(&event, oneof->field(i));
    EXPECT_NE(
        EventLine(event, absl::UTCTimeZone()).find(absl::StrCat("  ", KindNames()[i].name, "  ")),
        std::string::npos)
        << oneof->field(i)->name();
  }
}

TEST(CauseNamesTest, NamesEveryCauseInLowerCase) {
  const std::vector<CauseName> names = CauseNames();
  ASSERT_EQ(static_cast<int>(names.size()), v1::Cause_descriptor()->value_count() - 1);
  EXPECT_EQ(names.front().name, "completed");
  EXPECT_EQ(names.front().cause, v1::CAUSE_COMPLETED);
  EXPECT_EQ(names.back().name, "hedge_lost");
}

TEST(EventLineTest, FallsBackToThePoolAndToNumbersItDoesNotKnow) {
  v1::Event event = Parse(absl::StrCat(kContext, "attempt_failed {}"));
  event.clear_endpoint();
  event.mutable_attempt_failed()->set_cause(static_cast<v1::Cause>(999));
  EXPECT_EQ(EventLine(event, absl::UTCTimeZone()),
            "03:04:05.678  0000002f  attempt_failed  m1                chat            attempt=1 "
            "cause=999\n");
  event.clear_kind();
  EXPECT_EQ(EventLine(event, absl::UTCTimeZone()),
            "03:04:05.678  0000002f  unknown         m1                chat            "
            "sluicectl is older than the server\n");
}

TEST(EventLineTest, LetsNoNameSteerTheTerminalOrForgeALine) {
  v1::Event event = Parse(absl::StrCat(kContext, "attempt_failed { detail: \"x\\ny\" }"));
  event.set_model("\x1b[2J a\nb");
  const std::string line = EventLine(event, absl::UTCTimeZone());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find("\\x1b[2J\\x20a\\x0ab"), std::string::npos);
}

TEST(LostLineTest, SaysHowManyAndWhy) {
  v1::Lost lost;
  lost.set_count(12);
  lost.set_reason(v1::Lost::REASON_OVERRUN);
  EXPECT_EQ(LostLine(lost), "-- lost: 12 events, overwritten before they were read\n");
  lost.set_reason(v1::Lost::REASON_RESTARTED);
  EXPECT_EQ(LostLine(lost), "-- lost: the server was restarted; events before that are gone\n");
}

TEST(DurationTextTest, KeepsThreeFiguresAtEveryScale) {
  EXPECT_EQ(DurationText(absl::Microseconds(400)), "0.4ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(12)), "12ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(1230)), "1.23s");
  EXPECT_EQ(DurationText(absl::Seconds(192)), "3m12s");
  EXPECT_EQ(DurationText(absl::Minutes(302)), "5h02m");
  EXPECT_EQ(DurationText(absl::Hours(51)), "2d03h");
}

}  // namespace
}  // namespace sluice::admin
