#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"

#include "tests/admin/sluicectl_test.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

constexpr char kRunning[] = R"(
  id: "x5f3a09c100000002" request_id: "r\x1b" principal: "alice" client_address: "127.0.0.1:5"
  method: "POST" path: "/v1/chat/completions" model: "m\n1" pool: "chat" dialect: "openai.chat"
  stream: true config_generation: 3 start_time { seconds: 1767323045 nanos: 5000000 }
  phase: PHASE_RELAY endpoint: "pools/chat/endpoints/b" attempt: 2 key_id: "k1" age { seconds: 125 }
  ttft { nanos: 120000000 } frames: 40 upstream_bytes: 900 client_bytes: 800
  usage { prompt_tokens: 5 completion_tokens: 20 total_tokens: 25 } since_last_piece { seconds: 3 } )";

constexpr char kFinished[] = R"(
  id: "x5f3a09c100000001" pool: "chat" phase: PHASE_FINISHED age { seconds: 1 }
  finished { cause: CAUSE_UPSTREAM_RESET detail: "connection reset" http_status: 502 } )";

int64_t LinesIn(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

class ExchangeCommandTest : public SluicectlTest {
 protected:
  v1::ErrorDetail Reason(const char* reason) {
    v1::ErrorDetail detail;
    detail.set_reason(reason);
    return detail;
  }
};

TEST_F(ExchangeCommandTest, ListIsATableThatNamesCannotBreak) {
  v1::ListExchangesResponse page;
  *page.add_exchanges() = Parse<v1::Exchange>(kRunning);
  *page.add_exchanges() = Parse<v1::Exchange>(kFinished);
  page.set_total_size(2);
  server_.exchange_pages = {page};
  EXPECT_EQ(Run({"exchange", "list", "--all"}), ExitCode::kOk);
  EXPECT_EQ(
      out(),
      "ID                 PHASE       AGE  MODEL   ENDPOINT  ATTEMPT  PRINCIPAL   TTFT  FRAMES  "
      "TOKENS   IDLE  CAUSE\n"
      "x5f3a09c100000002  relay     2m05s  m\\x0a1  chat/b          2  alice      120ms      40    "
      "5/20  3.00s  -\n"
      "x5f3a09c100000001  finished  1.00s  -       chat            0  -              -       0    "
      "   -      -  upstream_reset\n");
  EXPECT_EQ(err(), "");
}

TEST_F(ExchangeCommandTest, ListAsksForWhatItsFlagsSay) {
  const struct {
    std::vector<std::string> flags;
    const char* request;
  } kRows[] = {
      {{}, "page_size: 100 selection: SELECTION_LIVE"},
      {{"--finished"}, "page_size: 100 selection: SELECTION_FINISHED"},
      {{"--all", "--limit", "7"}, "page_size: 7"},
      {{"--limit", "0"}, "page_size: 1000 selection: SELECTION_LIVE"},
      {{"--cause", "drained"},
       "page_size: 100 selection: SELECTION_FINISHED causes: CAUSE_DRAINED"},
      {{"--model", "a, b", "--pool=chat", "--endpoint", "chat/a,pools/c/endpoints/d", "--principal",
        "p"},
       "page_size: 100 selection: SELECTION_LIVE models: \"a\" models: \"b\" pools: \"chat\" "
       "endpoints: \"pools/chat/endpoints/a\" endpoints: \"pools/c/endpoints/d\" principals: "
       "\"p\""},
  };
  for (const auto& row : kRows) {
    std::vector<std::string> args = {"exchange", "list"};
    args.insert(args.end(), row.flags.begin(), row.flags.end());
    EXPECT_EQ(Run(args), ExitCode::kOk) << err();
    EXPECT_EQ(server_.requests().back(), row.request);
  }
}

TEST_F(ExchangeCommandTest, ListFetchesAsManyPagesAsItTakesAndShowsNothingTwice) {
  v1::ListExchangesResponse first;
  for (const char* id : {"x1", "x2"}) first.add_exchanges()->set_id(id);
  first.set_next_page_token("t1");
  first.set_total_size(9);
  v1::ListExchangesResponse second;
  for (const char* id : {"x2", "x3"}) second.add_exchanges()->set_id(id);
  second.set_next_page_token("t2");
  server_.exchange_pages = {first, second};
  EXPECT_EQ(Run({"exchange", "list", "--limit", "3", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(server_.requests(),
              ElementsAre("page_size: 3 selection: SELECTION_LIVE",
                          "page_size: 1 page_token: \"t1\" selection: SELECTION_LIVE"));
  for (const char* id : {"\"x1\"", "\"x2\"", "\"x3\""}) EXPECT_THAT(out(), HasSubstr(id));
  EXPECT_EQ(LinesIn(out()), 3);
  EXPECT_EQ(err(), "sluicectl: these are 3 of 9; --limit 0 shows all\n");
}

TEST_F(ExchangeCommandTest, ListRefusesFlagsThatMeanNothing) {
  EXPECT_EQ(Run({"exchange", "list", "--cause", "gone"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("--cause: not one of completed, client_gone, "));
  EXPECT_EQ(Run({"exchange", "list", "--limit", "-1"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("See `sluicectl help exchange list`."));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ExchangeCommandTest, GetShowsAllOfARunningOne) {
  server_.exchange = Parse<v1::Exchange>(std::string(kRunning) + R"(
    attempts { number: 1 endpoint: "pools/chat/endpoints/a" started { nanos: 1000000 }
               took { nanos: 9000000 } cause: CAUSE_CONNECT_FAILED detail: "connection refused" }
    attempts { number: 2 endpoint: "pools/chat/endpoints/b" key_id: "k1" started { nanos: 10000000 }
               http_status: 200 }
    gaps { buckets { up_to { nanos: 10000000 } count: 80 } buckets { up_to { seconds: 1 } count: 1 }
           buckets { count: 40 } } )");
  EXPECT_EQ(Run({"exchange", "get", "x5f3a09c100000002"}), ExitCode::kOk);
  EXPECT_EQ(out(),
            R"(exchange      x5f3a09c100000002
state         runs, in the phase relay, for 2m05s; last piece 3.00s ago
request id    r\x1b
request       POST /v1/chat/completions, openai.chat, stream
client        127.0.0.1:5, principal alice
model         m\x0a1
place         chat/b, attempt 2, key k1
config        generation 3
accepted      2026-01-02 03:04:05.005 +00:00
ttft          120ms
passed        40 frames, 800 bytes to the client, 900 from upstreams
usage         5/20/25 tokens (prompt/completion/total)

attempts
#  ENDPOINT  KEY  STARTED   TOOK  STATUS  OUTCOME         DETAIL
1  chat/a    -      1.0ms  9.0ms       -  connect_failed  connection refused
2  chat/b    k1      10ms      -     200  committed

times between frames
  <= 10ms             80  ########################################
  <= 1.00s             1  #
  longer              40  ####################
)");
  EXPECT_THAT(server_.requests(), ElementsAre("id: \"x5f3a09c100000002\""));
}

TEST_F(ExchangeCommandTest, GetShowsHowAFinishedOneEnded) {
  server_.exchange = Parse<v1::Exchange>(kFinished);
  server_.exchange.MergeFrom(Parse<v1::Exchange>(R"(
    finished { finish_reason: "stop" usage_provenance: USAGE_PROVENANCE_PARTIAL
               timings { upstream_head { nanos: 30000000 } done { seconds: 1 } }
               largest_gap { seconds: 2 } largest_gap_by_client: true dropped_bytes: 9
               dropped_stretches: 2 cancel_latency { nanos: 40000000 }
               upstream_digest: "00" client_digest: "01" }
    attempts { number: 1 endpoint: "pools/chat/endpoints/a" } )"));
  EXPECT_EQ(Run({"exchange", "get", "x5f3a09c100000001"}), ExitCode::kOk);
  for (const char* words :
       {"state         ended after 1.00s: upstream_reset (connection reset), status 502\n",
        "finish        stop\n", "the usage is partial", "2.00s between two pieces; the client did",
        "left out      9 bytes at 2 places\n", "the upstream was closed within 40ms\n",
        "digests       upstream 00, client 01\n", "  upstream head             30ms\n",
        "  first frame                  -\n", "  done                     1.00s\n", "given up",
        "times between frames\n  none\n"}) {
    EXPECT_THAT(out(), HasSubstr(words));
  }
}

TEST_F(ExchangeCommandTest, AShortIdIsCompletedFromAnyOther) {
  server_.exchange_pages = {
      Parse<v1::ListExchangesResponse>("exchanges { id: \"x5f3a09c1000000ff\" } total_size: 300")};
  EXPECT_EQ(Run({"exchange", "get", "0000002f"}), ExitCode::kOk);
  EXPECT_THAT(server_.requests(), ElementsAre("page_size: 1", "id: \"x5f3a09c10000002f\""));
}

TEST_F(ExchangeCommandTest, AShortIdIsNotFoundWhereThereIsNoExchange) {
  EXPECT_EQ(Run({"exchange", "get", "0000002f"}), ExitCode::kNotFound);
  EXPECT_THAT(err(), HasSubstr("the server has had no exchange yet"));
}

TEST_F(ExchangeCommandTest, WhatIsNoIdIsNotSent) {
  for (const char* command : {"get", "cancel", "tail"}) {
    for (const char* id : {"x5f3a", "X5f3a09c100000001", "002f", "", "\x1b"}) {
      EXPECT_EQ(Run({"exchange", command, id}), ExitCode::kUsage) << id;
    }
  }
  EXPECT_THAT(err(), HasSubstr("`sluicectl exchange list` shows them."));
  EXPECT_THAT(err(), HasSubstr("00000001: \\x1b\n"));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ExchangeCommandTest, CancelSaysWhatItEnded) {
  server_.exchange = Parse<v1::Exchange>(kRunning);
  EXPECT_EQ(Run({"exchange", "cancel", "x5f3a09c100000002", "--reason", "runs away"}),
            ExitCode::kOk);
  EXPECT_EQ(out(), "cancelled: x5f3a09c100000002, m\\x0a1 at chat/b, after 2m05s and 40 frames\n");
  EXPECT_THAT(server_.requests(), ElementsAre("id: \"x5f3a09c100000002\" reason: \"runs away\""));
}

TEST_F(ExchangeCommandTest, CancelOfAnEndedOneIsAConflictAndOfAnUnknownOneNotFound) {
  server_.exchange_result = FakeControlServer::Error(grpc::StatusCode::FAILED_PRECONDITION,
                                                     "it has finished", Reason("EXCHANGE_ENDED"));
  EXPECT_EQ(Run({"exchange", "cancel", "x5f3a09c100000002"}), ExitCode::kConflict);
  EXPECT_EQ(err(),
            "sluicectl: too late: it has finished\n"
            "`sluicectl exchange get` shows how it ended.\n");
  server_.exchange_result =
      FakeControlServer::Error(grpc::StatusCode::NOT_FOUND, "unknown", Reason("EXCHANGE_UNKNOWN"));
  err_.str("");
  EXPECT_EQ(Run({"exchange", "cancel", "x5f3a09c100000002"}), ExitCode::kNotFound);
  EXPECT_EQ(err(),
            "sluicectl: not found: unknown\n"
            "`sluicectl exchange list --all` shows those there are.\n");
}

/// Frames, a loss, and the end.
grpc::Status TailScript(grpc::ServerContext*, FakeControlServer::TailWriter* writer) {
  writer->Write(v1::TailExchangeResponse());
  writer->Write(Parse<v1::TailExchangeResponse>(
      R"(frames { index: 4 data: "{\"a\":\"\\n\"}" data_bytes: 10 }
         frames { index: 5 data: "two\nlines\x1b[2J\xc3\xa9" data_bytes: 99999 })"));
  writer->Write(Parse<v1::TailExchangeResponse>("lost: 3 frames { index: 9 data: \"[DONE]\" }"));
  writer->Write(Parse<v1::TailExchangeResponse>("cause: CAUSE_COMPLETED"));
  return grpc::Status::OK;
}

TEST_F(ExchangeCommandTest, TailShowsFramesAsTheyAreAndTheRestInWords) {
  server_.tail = TailScript;
  EXPECT_EQ(Run({"exchange", "tail", "x5f3a09c100000002"}), ExitCode::kOk);
  EXPECT_EQ(out(), "{\"a\":\"\\n\"}\ntwo\nlines\\x1b[2J\xc3\xa9\n[DONE]\n");
  EXPECT_EQ(err(),
            "sluicectl: frame 5 has 99999 bytes, these are the first 15\n"
            "sluicectl: lost 3 frames: they passed faster than they were read\n"
            "sluicectl: the exchange has ended: completed\n");
}

TEST_F(ExchangeCommandTest, TailAsJsonIsAFrameALine) {
  server_.tail = TailScript;
  EXPECT_EQ(Run({"exchange", "tail", "x5f3a09c100000002", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\"index\":\"9\""));
  EXPECT_THAT(out(), HasSubstr("\"data\":\"W0RPTkVd\""));
  EXPECT_EQ(LinesIn(out()), 3);
  EXPECT_THAT(err(), HasSubstr("lost 3 frames"));
}

TEST_F(ExchangeCommandTest, TailEndsWithTheUsersPatience) {
  server_.tail = [this](grpc::ServerContext* context, FakeControlServer::TailWriter* writer) {
    writer->Write(v1::TailExchangeResponse());
    stop_.request_stop();
    while (!context->IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  };
  EXPECT_EQ(Run({"exchange", "tail", "x5f3a09c100000002"}), ExitCode::kOk);
  EXPECT_EQ(err(), "");
}

}  // namespace
}  // namespace sluice::admin
