#include "lib/exchange/cause.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// Every way an exchange can end in the relay core, against the table of causes: status, error body,
// log level and the event that observers get.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;

struct Ending {
  Cause cause;
  Script script;  // of the only endpoint
  bool committed = false;
  ClientSink::Result second_write = ClientSink::Result::kOk;
  int status = 0;  // when it is not the table's
};

class CauseTest : public RelayTest, public ::testing::WithParamInterface<Ending> {};

TEST_P(CauseTest, EndsAsTheTableSays) {
  const Ending& ending = GetParam();
  const CauseInfo& row = InfoOf(ending.cause);
  transport_.Play(ending.script);
  if (ending.second_write != ClientSink::Result::kOk) sink_.FailWrite(2, ending.second_write);
  Run();

  EXPECT_EQ(cause(), ending.cause);
  EXPECT_EQ(transcript_.lines().back(), absl::StrCat("finished ", row.label));
  const absl::string_view level = row.level == LogLevel::kInfo      ? "INFO"
                                  : row.level == LogLevel::kWarning ? "WARN"
                                                                    : "ERROR";
  EXPECT_THAT(log_.at(0), HasSubstr(absl::StrCat(" ", level)));
  EXPECT_THAT(log_.at(0), HasSubstr(absl::StrCat(" cause=", row.label, " ")));
  if (ending.committed) {
    EXPECT_EQ(sink_.head().status, 200);
  } else if (row.http_status == 0) {
    EXPECT_FALSE(sink_.has_head());
  } else {
    EXPECT_EQ(sink_.head().status, ending.status == 0 ? row.http_status : ending.status);
    if (ending.status == 0) {
      EXPECT_THAT(sink_.body(), HasSubstr(absl::StrCat("\"", row.label, "\"")));
      EXPECT_THAT(sink_.body(), HasSubstr(absl::StrCat("\"", row.openai_type, "\"")));
    }
  }
}

Script Streaming() { return Script().Head(200, kEventStreamType).Piece(kHello); }

std::vector<Ending> Endings() {
  using enum Cause;
  std::vector<Ending> endings = {
      {kCompleted, GoodStream(), true},
      {kClientGone, Script().Cancel(kClientGone).Silence()},
      {kClientGone, Streaming().Piece(kStop).End(), true, ClientSink::Result::kGone},
      {kClientTooSlow, Streaming().Piece(kStop).End(), true, ClientSink::Result::kStalled},
      {kNoCapacity, Script().Refuse()},
      {kNoCapacity, Script().Refuse(kDnsFailed)},
      {kConnectTimeout, Script().Silence().Refuse()},
      {kUpstreamRefused503, Script().Head(503, "text/plain").Piece("busy").End(), false,
       ClientSink::Result::kOk, 503},
      {kUpstreamStatus, Script().Head(500, "text/plain").Piece("oops").End(), false,
       ClientSink::Result::kOk, 500},
      {kUpstreamErrorFrame, Script().Head(200, kEventStreamType).Piece(kErrorFrame).End()},
      {kUpstreamErrorFrame, Streaming().Piece(kErrorFrame).End(), true},
      {kTruncated, Streaming().End(), true},
      {kEmptyAnswer, Script().Head(200, kEventStreamType).End()},
      {kFirstFrameTimeout, Script().Silence()},
      {kIdleTimeout, Streaming().Silence(), true},
  };
  for (const Cause failure :
       {kTlsFailed, kUpstreamReset, kUpstreamProtocol, kTruncated, kInternal}) {
    endings.push_back({failure, Script().Fail(failure)});
    endings.push_back({failure, Streaming().Fail(failure), true});
  }
  for (const Cause cancelled : {kCancelledByOperator, kDrained}) {
    endings.push_back({cancelled, Script().Cancel(cancelled).Silence()});
    endings.push_back({cancelled, Streaming().Cancel(cancelled).Silence(), true});
  }
  return endings;
}

std::string NameOf(const ::testing::TestParamInfo<Ending>& info) {
  return absl::StrCat(InfoOf(info.param.cause).label, info.param.committed ? "_committed_" : "_",
                      info.index);
}

INSTANTIATE_TEST_SUITE_P(All, CauseTest, ::testing::ValuesIn(Endings()), NameOf);

}  // namespace
}  // namespace sluice::relay
