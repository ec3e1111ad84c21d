#ifndef SLUICE_TESTS_INTEGRATION_CASE_TEST_H_
#define SLUICE_TESTS_INTEGRATION_CASE_TEST_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"

#include "lib/exchange/cause.h"
#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"

/// Public failures of streaming gateways, one test each; the ids are explained in README.md here.
namespace sluice::testing {

/// One exchange as the client saw it and as the gateway recorded it.
struct Outcome {
  RawResponse response;
  FinishedExchange finished;

  const sluice::Exchange& record() const { return finished.record; }
  std::string cause() const { return CauseLabel(record().cause); }
  /// "7/3", or "none".
  std::string usage() const {
    return record().usage.has_value()
               ? absl::StrCat(record().usage->prompt_tokens, "/", record().usage->completion_tokens)
               : "none";
  }
  /// The failures of the attempts in order, "-" for none: "connect_failed -".
  std::string attempts() const {
    std::string text;
    for (const Attempt& attempt : record().attempts) {
      absl::StrAppend(&text, text.empty() ? "" : " ",
                      attempt.failure.has_value() ? CauseLabel(attempt.failure) : "-");
    }
    return text;
  }

 private:
  static std::string CauseLabel(const std::optional<Cause>& cause) {
    return cause.has_value() ? std::string(InfoOf(*cause).label) : "unfinished";
  }
};

class CaseTest : public GatewayFixture {
 protected:
  /// One pool of two endpoints, the first of which is asked first; `edit` changes the rest of it.
  void StartTwo(const std::function<void(config::Pool&)>& edit = nullptr) {
    engine_ = StartEngine();
    second_ = StartEngine();
    config::Config config = ConfigFor(engine_->uri());
    config.pools[0].endpoints.push_back({"b", second_->uri()});
    if (edit) edit(config.pools[0]);
    StartGateway(std::move(config), 1);
  }

  /// One engine, and the gateway with `edit` done to its configuration.
  void StartOne(const std::function<void(config::Config&)>& edit = nullptr) {
    engine_ = StartEngine();
    config::Config config = ConfigFor(engine_->uri());
    if (edit) edit(config);
    StartGateway(std::move(config), 1);
  }

  /// One request on a connection of its own, and what became of it.
  Outcome Run(const std::string& request = ChatRequest()) {
    const size_t before = finished_.count();
    Outcome outcome;
    outcome.response = Exchange(request);
    outcome.finished = Finished(before);
    return outcome;
  }
  Outcome RunScript(Script script, const std::string& request = ChatRequest()) {
    engine_->Enqueue(std::move(script));
    return Run(request);
  }

  /// The exchange that ended after `before` others had.
  FinishedExchange Finished(size_t before = 0) {
    const std::vector<FinishedExchange> all = finished_.WaitFor(before + 1);
    EXPECT_EQ(all.size(), before + 1);
    return all.size() > before ? all[before] : FinishedExchange();
  }

  /// The next request takes a new connection to the engine. (That the last one is closed would
  /// prove less: the pool closes idle ones soon.)
  void ExpectNoReuse() {
    const uint64_t before = engine_->counts().accepted;
    EXPECT_EQ(RunScript(Script().Json("{}"), ChatRequest(false)).response.status, 200);
    EXPECT_EQ(engine_->counts().accepted, before + 1);
  }

  std::unique_ptr<ScriptedEngine> second_;
};

/// The error event that the gateway ends an OpenAI stream with.
inline std::string ErrorEventOf(Cause cause) {
  return absl::StrCat(R"(data: {"error":{"message":")", InfoOf(cause).message, R"(","type":")",
                      InfoOf(cause).openai_type, R"(","param":null,"code":")", InfoOf(cause).label,
                      "\"}}\n\n");
}

/// The whole body passed, nothing was added, and the exchange is recorded as completed.
inline void ExpectPassed(const Outcome& outcome, absl::string_view body) {
  EXPECT_EQ(outcome.response.status, 200);
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_EQ(outcome.response.body, body);
  EXPECT_EQ(outcome.cause(), "completed");
  EXPECT_EQ(outcome.finished.done, 1);
}

/// `sent` passed, then one error event of `cause` and an orderly end.
inline void ExpectBrokenOff(const Outcome& outcome, absl::string_view sent, Cause cause) {
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_EQ(outcome.response.body, absl::StrCat(sent, ErrorEventOf(cause)));
  EXPECT_EQ(outcome.cause(), InfoOf(cause).label);
  EXPECT_EQ(outcome.finished.done, 0);
  EXPECT_NE(outcome.record().provenance, Provenance::kReported);
}

/// An answer that the gateway made itself before the commit.
inline void ExpectError(const Outcome& outcome, int status, absl::string_view code) {
  EXPECT_EQ(outcome.response.status, status);
  EXPECT_THAT(outcome.response.body, ::testing::HasSubstr(absl::StrCat(R"("code":")", code, "\"")));
  EXPECT_THAT(outcome.response.HeaderValues("Connection"), ::testing::ElementsAre("close"));
  EXPECT_EQ(outcome.cause(), code);
  EXPECT_EQ(outcome.finished.done, 0);
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_CASE_TEST_H_
