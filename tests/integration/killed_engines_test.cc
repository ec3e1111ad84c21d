// Engines that are killed in the middle of their streams, by SIGKILL, and start again at the same
// address. SLUICE_ENGINE_KILLS says how often (100 unless set); ten streams break each time.

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "tests/integration/case_test.h"
#include "tests/integration/daemon.h"
#include "tests/support/child_process.h"

namespace sluice::testing {
namespace {

constexpr int kStreamsAKill = 10;
constexpr int kEventsInAFile = 40;

int Kills() {
  int kills = 100;
  const char* text = std::getenv("SLUICE_ENGINE_KILLS");
  return text != nullptr && absl::SimpleAtoi(text, &kills) ? kills : 100;
}

struct Speech {
  std::string path;
  std::string error_start;
};
const Speech kSpeeches[] = {{"/v1/chat/completions", "data: {\"error\":{"},
                            {"/v1/messages", "event: error\ndata: {\"type\":\"error\","}};

/// One life of an engine: an endless stream that says in each event whose it is.
class Life {
 public:
  /// `number`: no other life's. Every other one reports usage in each event.
  Life(uint16_t port, int number, const Speech& speech, size_t piece_bytes)
      : reports_usage_(number % 2 == 1),
        events_(Events(number, speech)),
        file_(events_),
        engine_({SLUICE_BIN "/sluice-engine", absl::StrCat("--listen=127.0.0.1:", port),
                 absl::StrCat("--stream=", file_.path()), "--pause-ms=1", "--repeat=1000000",
                 absl::StrCat("--piece-bytes=", piece_bytes)}) {
    if (!engine_.WaitForOut("listening on")) ADD_FAILURE() << engine_.err();
  }

  bool reports_usage() const { return reports_usage_; }
  bool Began(absl::string_view bytes) const { return absl::StrContains(bytes, Mark(events_)); }

  /// Whether `bytes` are the first of what it sends.
  bool Sends(absl::string_view bytes) const {
    while (absl::ConsumePrefix(&bytes, events_)) {
    }
    return absl::StartsWith(events_, bytes);
  }

  void Kill() {
    engine_.Signal(SIGKILL);
    EXPECT_EQ(engine_.WaitForExit(), 128 + SIGKILL);
  }

 private:
  std::string Events(int number, const Speech& speech) const {
    std::string events;
    for (int i = 0; i < kEventsInAFile; ++i) {
      const std::string text = absl::StrCat("life ", number, ".", i);
      if (speech.path == "/v1/chat/completions") {
        absl::StrAppend(
            &events, R"(data: {"choices":[{"index":0,"delta":{"content":")", text, "\"}}]",
            reports_usage_ ? R"(,"usage":{"prompt_tokens":1,"completion_tokens":1})" : "", "}\n\n");
      } else {
        absl::StrAppend(&events, "event: message_delta\n",
                        R"(data: {"type":"message_delta","delta":{"text":")", text, "\"}",
                        reports_usage_ ? R"(,"usage":{"output_tokens":1})" : "", "}\n\n");
      }
    }
    return events;
  }
  /// What only its own events hold: "life 7."
  static std::string Mark(const std::string& events) {
    const size_t start = events.find("life ");
    return events.substr(start, events.find('.', start) + 1 - start);
  }

  const bool reports_usage_;
  const std::string events_;
  const TempFile file_;
  ChildProcess engine_;
};

/// An engine and its address, which stays its own between two lives.
struct Engine {
  RefusingPort port;
  std::unique_ptr<Life> life;
};

class KilledEnginesTest : public CaseTest {
 protected:
  KilledEnginesTest() {
    config::Config config = ConfigFor(engines_[0].port.uri());
    config.pools[0].endpoints.push_back({"b", engines_[1].port.uri()});
    config.pools[0].health.consecutive_failures = 0;  // or who dies often would be left out
    StartGateway(std::move(config), 1);
  }

  /// Opens as many streams as both engines are to break, and reads a different length of each.
  void OpenStreams(const Speech& speech) {
    clients_.clear();
    for (int i = 0; i < 2 * kStreamsAKill; ++i) {
      const std::string id = absl::StrCat("stream-", ++streams_);
      RawClient client = Connect();
      ASSERT_TRUE(client
                      .Send(PostRequest(speech.path, R"({"model":"m1","stream":true})",
                                        absl::StrCat("X-Request-Id: ", id, "\r\n")))
                      .ok());
      clients_.emplace_back(id, std::move(client));
    }
    for (auto& [id, client] : clients_) {
      const size_t length = 600 + random_() % 2000;
      const auto enough = [length](absl::string_view unread) { return unread.size() >= length; };
      ASSERT_TRUE(client.ReadUntil(enough).ok()) << client.unread();
    }
  }

  /// What a client of `life` got when that had been killed.
  void ExpectBroken(RawClient& client, const Life& life, const Speech& speech) {
    const RawResponse response = client.ReadResponse().value_or(RawResponse());
    EXPECT_TRUE(response.complete());
    EXPECT_EQ(response.status, 200);
    const absl::string_view body = response.body;
    const size_t end = body.find(speech.error_start);
    ASSERT_NE(end, body.npos) << body;
    EXPECT_EQ(body.find("\n\n", end), body.size() - 2) << "one event: " << body.substr(end);
    absl::string_view sent = body.substr(0, end);
    if (!life.Sends(sent)) {
      EXPECT_TRUE(absl::ConsumeSuffix(&sent, "\n\n")) << "ends the event that was cut: " << sent;
      EXPECT_TRUE(life.Sends(sent)) << sent;
    } else {
      EXPECT_TRUE(absl::EndsWith(sent, "\n\n")) << "between two events: " << sent;
    }
    EXPECT_FALSE(sent.empty());
    EXPECT_FALSE(absl::StrContains(response.body, "[DONE]"));
    EXPECT_FALSE(absl::StrContains(response.body, "message_stop"));
  }

  /// Kills the engine and looks at every stream it was on; returns how many.
  int Kill(Engine& engine, const Speech& speech) {
    std::vector<std::pair<std::string, RawClient*>> broken;
    for (auto& [id, client] : clients_) {
      if (engine.life->Began(client.unread())) broken.emplace_back(id, &client);
    }
    engine.life->Kill();
    for (const auto& [id, client] : broken) {
      SCOPED_TRACE(id);
      ExpectBroken(*client, *engine.life, speech);
      reported_usage_[id] = engine.life->reports_usage();
    }
    return static_cast<int>(broken.size());
  }

  void ExpectRecord(const FinishedExchange& finished) {
    const sluice::Exchange& record = finished.record;
    SCOPED_TRACE(record.subject->exchange->request_id);
    EXPECT_TRUE(record.cause == Cause::kTruncated || record.cause == Cause::kUpstreamReset)
        << InfoOf(*record.cause).label;
    EXPECT_EQ(record.attempts.size(), 1u);
    EXPECT_EQ(finished.done, 0);
    EXPECT_EQ(record.provenance, reported_usage_.at(record.subject->exchange->request_id)
                                     ? Provenance::kPartial
                                     : Provenance::kAbsent);
  }

  std::mt19937 random_{7};
  Engine engines_[2];
  int streams_ = 0;
  std::vector<std::pair<std::string, RawClient>> clients_;  // by the ids of their requests
  std::map<std::string, bool> reported_usage_;
};

TEST_F(KilledEnginesTest, EachStreamEndsInOneErrorEvent) {
  int lives = 0;
  int broken = 0;
  for (int kills = 0; kills < Kills() && !HasFailure(); kills += 2) {
    const Speech& speech = kSpeeches[kills / 2 % 2];
    for (Engine& engine : engines_) {
      engine.life =
          std::make_unique<Life>(engine.port.port(), ++lives, speech, 20 + random_() % 200);
    }
    ASSERT_NO_FATAL_FAILURE(OpenStreams(speech));
    // The other engine, which could make a second attempt, is alive while the first one dies.
    for (Engine& engine : engines_) broken += Kill(engine, speech);
  }
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(broken, streams_);
  const std::vector<FinishedExchange> finished = finished_.WaitFor(static_cast<size_t>(streams_));
  EXPECT_EQ(finished.size(), static_cast<size_t>(streams_));
  for (const FinishedExchange& each : finished) ExpectRecord(each);
  std::cout << lives << " kills, " << broken << " broken streams" << std::endl;
}

}  // namespace
}  // namespace sluice::testing
