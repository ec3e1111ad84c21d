#include "lib/exchange/cause.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "lib/events/hub.h"
#include "lib/events/hub_observer.h"
#include "tests/relay/relay_test.h"

// Every way an exchange can end in the relay core, against the table of causes: status, error body,
// log level, label and the events that operators get. The last test walks the table.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;

constexpr Duration kTick = seconds(20);

struct Ending {
  Cause cause;         // of the exchange
  Script script = {};  // of the only endpoint
  bool committed = false;
  ClientSink::Result second_write = ClientSink::Result::kOk;
  int relayed_status = 0;                   // an upstream's own answer, given as it is
  std::optional<Cause> attempt_cause = {};  // when it is not the exchange's
  std::function<void(config::Config&)> edit = {};
  bool refused = false;  // by the server, before there was a request
  bool keyed = false;    // clients need keys, and this one has none
  bool busy = false;     // another request of the principal is in flight
  std::string body = {};
};

class CauseTest : public RelayTest, public ::testing::WithParamInterface<Ending> {
 protected:
  void ServeOne(const Ending& ending) {
    config::Config config = store_.Current()->config();
    if (ending.edit) ending.edit(config);
    ConfigureAll(std::move(config));
    if (!ending.refused) transport_.Play(ending.script);
    if (ending.second_write != ClientSink::Result::kOk) sink_.FailWrite(2, ending.second_write);

    if (ending.keyed) RequireClientKeys({{"alice", "sk-alice"}});
    std::optional<admission::Slot> another;
    if (ending.busy) another = gate_.principals.TryTake("anonymous", 0);

    Observers observers;
    observers.Add(&observer_);
    observers.Add(&hub_observer_);
    Proxy proxy(Deps(observers));
    Request request = ChatRequest();
    if (!ending.body.empty()) request.body = ending.body;
    const std::unique_ptr<Answer> answer =
        ending.refused
            ? proxy.Refuse(ending.cause, "", "192.0.2.7:5000", clock_.Now(), cancellation_)
            : proxy.Serve(std::move(request), clock_.Now(), cancellation_);
    Drive(*answer);
  }

  void ExpectAnswer(const Ending& ending, const CauseInfo& row) const {
    if (ending.committed || ending.relayed_status != 0) {
      EXPECT_EQ(sink_.head().status, ending.committed ? 200 : ending.relayed_status);
    } else if (row.http_status == 0) {
      EXPECT_FALSE(sink_.has_head());
    } else {
      EXPECT_EQ(sink_.head().status, row.http_status);
      EXPECT_THAT(sink_.body(), HasSubstr(absl::StrCat("\"code\":\"", row.label, "\"")));
      EXPECT_THAT(sink_.body(), HasSubstr(absl::StrCat("\"type\":\"", row.openai_type, "\"")));
    }
  }

  void ExpectLogLine(const CauseInfo& row) const {
    const absl::string_view level = row.level == LogLevel::kInfo      ? "INFO"
                                    : row.level == LogLevel::kWarning ? "WARN"
                                                                      : "ERROR";
    ASSERT_EQ(log_.size(), 1u);
    EXPECT_THAT(log_[0], HasSubstr(absl::StrCat(" ", level, " exchange finished ")));
    EXPECT_THAT(log_[0], HasSubstr(absl::StrCat(" cause=", row.label, " ")));
  }

  void ExpectEvents(const Ending& ending) {
    const std::vector<events::Event> events = events::Reader(hub_, 0).Read().events;
    using Finished = std::shared_ptr<const Exchange>;
    using Failed = std::shared_ptr<const events::AttemptFailed>;
    ASSERT_TRUE(std::holds_alternative<Finished>(events.back().what));
    EXPECT_EQ(std::get<Finished>(events.back().what)->cause, ending.cause);
    EXPECT_EQ(std::get<Finished>(events.back().what)->http_status, finished().http_status);
    for (const events::Event& event : events) {
      if (const auto* failed = std::get_if<Failed>(&event.what)) {
        EXPECT_EQ((*failed)->cause, ending.attempt_cause.value_or(ending.cause));
      }
    }
  }

  events::Hub hub_;
  events::HubObserver hub_observer_{hub_, clock_};
};

TEST_P(CauseTest, EndsAsTheTableSays) {
  const Ending& ending = GetParam();
  const CauseInfo& row = InfoOf(ending.cause);
  ServeOne(ending);

  EXPECT_EQ(cause(), ending.cause);
  EXPECT_EQ(transcript_.lines().back(), absl::StrCat("finished ", row.label));
  if (ending.attempt_cause.has_value()) {
    EXPECT_EQ(attempt_failures(), InfoOf(*ending.attempt_cause).label);
  }
  ExpectAnswer(ending, row);
  ExpectLogLine(row);
  ExpectEvents(ending);
}

Script Streaming() { return Script().Head(200, kEventStreamType).Piece(kHello); }

/// Nothing but comments.
Script Pinging() {
  Script script = Streaming();
  for (Duration passed{0}; passed < seconds(400); passed += kTick) {
    script.Piece(": ping\n\n").Silence(kTick);
  }
  return script;
}

std::vector<Ending> Endings() {
  using enum Cause;
  const auto relayed = [](Cause cause, int status) {
    return Ending{.cause = cause,
                  .script = Script().Head(status, "text/plain").Piece("busy").End(),
                  .relayed_status = status};
  };
  const auto committed = [](Cause cause, Script script) {
    return Ending{.cause = cause, .script = std::move(script), .committed = true};
  };
  std::vector<Ending> endings = {
      committed(kCompleted, GoodStream()),
      {.cause = kClientGone, .script = Script().Cancel(kClientGone).Silence()},
      {.cause = kClientGone,
       .script = Streaming().Piece(kStop).End(),
       .committed = true,
       .second_write = ClientSink::Result::kGone},
      {.cause = kClientTooSlow,
       .script = Streaming().Piece(kStop).End(),
       .committed = true,
       .second_write = ClientSink::Result::kStalled},
      {.cause = kBadRequest, .body = "{}"},
      {.cause = kUnauthenticated, .keyed = true},
      {.cause = kForbidden,
       .edit = [](config::Config& c) { c.principals = {{.id = "*", .models = {"other"}}}; }},
      {.cause = kOverLimit,
       .edit = [](config::Config& c) { c.principals = {{.id = "*", .max_in_flight = 1}}; },
       .busy = true},
      {.cause = kNotFound, .edit = [](config::Config& c) { c.routes[0].model = "other"; }},
      {.cause = kNoCapacity, .edit = [](config::Config& c) { c.pools[0].endpoints.clear(); }},
      {.cause = kNoCapacity, .script = Script().Refuse(), .attempt_cause = kConnectFailed},
      {.cause = kNoCapacity, .script = Script().Refuse(kDnsFailed), .attempt_cause = kDnsFailed},
      {.cause = kTlsFailed, .script = Script().Refuse(kTlsFailed)},
      {.cause = kConnectTimeout, .script = Script().Silence().Refuse()},
      relayed(kUpstreamRefused503, 503),
      relayed(kUpstreamStatus, 500),
      {.cause = kUpstreamErrorFrame,
       .script = Script().Head(200, kEventStreamType).Piece(kErrorFrame).End()},
      committed(kUpstreamErrorFrame, Streaming().Piece(kErrorFrame).End()),
      committed(kTruncated, Streaming().End()),
      {.cause = kEmptyAnswer, .script = Script().Head(200, kEventStreamType).End()},
      {.cause = kFirstFrameTimeout, .script = Script().Silence()},
      committed(kIdleTimeout, Streaming().Silence()),
      committed(kFrameIdleTimeout, Pinging()),
      {.cause = kHoldBudgetSpent,
       .script = Script().Silence(),
       .edit = [](config::Config& c) { c.pools[0].timeouts.hold_budget = seconds(1); }},
  };
  for (const Cause refused :
       {kBadRequest, kRequestTimeout, kBodyTooLarge, kUriTooLong, kHeadTooLarge}) {
    endings.push_back({.cause = refused, .refused = true});
  }
  for (const Cause failure : {kUpstreamReset, kUpstreamProtocol, kTruncated, kInternal}) {
    endings.push_back({.cause = failure, .script = Script().Fail(failure)});
    endings.push_back(committed(failure, Streaming().Fail(failure)));
  }
  for (const Cause cancelled : {kCancelledByOperator, kDrained}) {
    endings.push_back({.cause = cancelled, .script = Script().Cancel(cancelled).Silence()});
    endings.push_back(committed(cancelled, Streaming().Cancel(cancelled).Silence()));
  }
  return endings;
}

std::string NameOf(const ::testing::TestParamInfo<Ending>& info) {
  return absl::StrCat(InfoOf(info.param.attempt_cause.value_or(info.param.cause)).label,
                      info.param.committed ? "_committed_" : "_", info.index);
}

INSTANTIATE_TEST_SUITE_P(All, CauseTest, ::testing::ValuesIn(Endings()), NameOf);

TEST(CauseTableTest, IsProducedRowByRow) {
  std::map<Cause, int> produced;
  for (const Ending& ending : Endings()) {
    ++produced[ending.cause];
    if (ending.attempt_cause.has_value()) ++produced[*ending.attempt_cause];
  }
  ++produced[Cause::kHedgeLost];  // of attempts only: hedge_test
  for (const CauseInfo& row : AllCauses()) {
    EXPECT_TRUE(produced.contains(row.cause)) << row.label << " needs a test above";
  }
}

}  // namespace
}  // namespace sluice::relay
