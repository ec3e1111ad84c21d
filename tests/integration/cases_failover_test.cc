// Cases on errors inside a 200, retries and failover (ids B070 to B086).

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "tests/integration/case_test.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FailoverCases : public CaseTest {};

const std::string kGood = absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent);

Script Good() { return Script().SseHead().Chunk(kGood).LastChunk(); }

/// What a first endpoint can do before the commit that sends the request to the second.
struct FirstFailure {
  std::string name;
  Script script;
  std::string cause;

  friend void PrintTo(const FirstFailure& value, std::ostream* out) { *out << value.name; }
};

class SilentFailover : public FailoverCases, public ::testing::WithParamInterface<FirstFailure> {};

TEST_P(SilentFailover, ShowsTheClientOnlyTheSecond) {
  StartTwo();
  engine_->Enqueue(GetParam().script);
  second_->Enqueue(Good());
  const Outcome outcome = Run();
  ExpectPassed(outcome, kGood);
  EXPECT_THAT(outcome.response.head, Not(HasSubstr("X-First")));
  EXPECT_EQ(outcome.attempts(), GetParam().cause + " -");
  EXPECT_EQ(engine_->counts().requests, 1u);
  EXPECT_EQ(second_->counts().requests, 1u);
  EXPECT_EQ(engine_->requests()[0].body, second_->requests()[0].body);
}

INSTANTIATE_TEST_SUITE_P(
    , SilentFailover,
    ::testing::Values(
        FirstFailure{"B070_ErrorAsFirstEvent",
                     Script()
                         .SseHead("X-First: 1\r\n")
                         .Chunk("data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n")
                         .Fin(),
                     "upstream_error_frame"},
        FirstFailure{"B070_ErrorAfterPings",
                     Script()
                         .SseHead("X-First: 1\r\n")
                         .Chunk(": ping\n\n")
                         .Chunk("data: {\"error\":{\"message\":\"busy\"}}\n\n")
                         .LastChunk(),
                     "upstream_error_frame"},
        FirstFailure{"B076_Refused503",
                     Script().Json("{}", "503 Busy", "Retry-After: 1\r\nX-First: 1\r\n"),
                     "upstream_refused_503"},
        FirstFailure{"TooManyRequests", Script().Json("{}", "429 Slow Down", "X-First: 1\r\n"),
                     "upstream_status"},
        FirstFailure{"ResetBeforeTheHead", Script().Reset(), "upstream_reset"},
        FirstFailure{"EndBeforeTheHead", Script().Fin(), "upstream_reset"},
        FirstFailure{"ResetInTheHold",
                     Script().SseHead().Chunk(": ping\n\n").Pause(milliseconds(5)).Reset(),
                     "upstream_reset"},
        FirstFailure{"EmptyStream", Script().SseHead().LastChunk(), "empty_answer"},
        FirstFailure{"OnlyJunk", Script().SseHead().Chunk("junk\n\n").LastChunk(), "empty_answer"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(FailoverCases, ARefusedConnectionSendsTheRequestElsewhere) {
  const RefusingPort dead;
  second_ = StartEngine();
  config::Config config = ConfigFor(dead.uri());
  config.pools[0].endpoints.push_back({"b", second_->uri()});
  StartGateway(config, 1);
  second_->Enqueue(Good());
  const Outcome outcome = Run();
  ExpectPassed(outcome, kGood);
  EXPECT_EQ(outcome.attempts(), "connect_failed -");
}

TEST_F(FailoverCases, B072_AnErrorInMidStreamPassesAsItIs) {
  StartTwo();
  const std::string body = absl::StrCat(
      ContentEvent("a"), "event: error\ndata: {\"error\":{\"message\":\"gave up\"}}\n\n");
  engine_->Enqueue(Script().SseHead().Chunk(body).LastChunk());
  const Outcome outcome = Run();
  EXPECT_TRUE(outcome.response.complete());
  EXPECT_EQ(outcome.response.body, body);
  EXPECT_EQ(outcome.cause(), "upstream_error_frame");
  EXPECT_EQ(outcome.finished.done, 0);
  EXPECT_EQ(second_->counts().requests, 0u);
}

TEST_F(FailoverCases, B074_NothingIsRetriedOnceBytesWereSent) {
  StartTwo();
  const std::string said = absl::StrCat(ContentEvent("The"), ContentEvent(" cat"));
  engine_->Enqueue(Script().SseHead().Chunk(said).Gate("break").Reset());
  RawClient client = Connect();
  ASSERT_TRUE(client.Send(ChatRequest()).ok());
  ASSERT_TRUE(
      client.ReadUntil([&](absl::string_view unread) { return absl::StrContains(unread, said); })
          .ok());
  engine_->OpenGate("break");
  Outcome outcome;
  outcome.response = client.ReadResponse().value_or(RawResponse());
  outcome.finished = Finished();
  ExpectBrokenOff(outcome, said, Cause::kUpstreamReset);
  EXPECT_EQ(second_->counts().requests, 0u);
}

TEST_F(FailoverCases, B077_ARefusalOfTheOnlyEndpointPassesWithItsHeaders) {
  StartOne();
  const std::string body = R"({"error":{"message":"slow down"}})";
  const Outcome outcome = RunScript(Script().Json(
      body, "429 Too Many Requests", "Retry-After: 30\r\nx-ratelimit-remaining-tokens: 0\r\n"));
  EXPECT_EQ(outcome.response.status, 429);
  EXPECT_EQ(outcome.response.body, body);
  EXPECT_THAT(outcome.response.HeaderValues("Retry-After"), ElementsAre("30"));
  EXPECT_THAT(outcome.response.HeaderValues("x-ratelimit-remaining-tokens"), ElementsAre("0"));
  EXPECT_EQ(outcome.cause(), "upstream_status");
}

TEST_F(FailoverCases, B086_ARefusalThatIsHtmlPassesAsItIs) {
  StartOne();
  const Outcome outcome =
      RunScript(Script().Raw("HTTP/1.1 413 Payload Too Large\r\nContent-Type: text/html\r\n"
                             "Content-Length: 15\r\n\r\n<h1>Large</h1>\n"));
  EXPECT_EQ(outcome.response.status, 413);
  EXPECT_EQ(outcome.response.body, "<h1>Large</h1>\n");
  EXPECT_THAT(outcome.response.HeaderValues("Content-Type"), ElementsAre("text/html"));
}

TEST_F(FailoverCases, B081_ANameThatDoesNotResolveSendsTheRequestElsewhere) {
  second_ = StartEngine();
  config::Config config = ConfigFor("http://nope.invalid");
  config.pools[0].endpoints.push_back({"b", second_->uri()});
  StartGateway(config, 1);
  second_->Enqueue(Good());
  const Outcome outcome = Run();
  ExpectPassed(outcome, kGood);
  ASSERT_EQ(outcome.record().attempts.size(), 2u);
  const std::optional<Cause> failure = outcome.record().attempts[0].failure;
  // A resolver that asks in vain may take longer than connecting may.
  EXPECT_TRUE(failure == Cause::kDnsFailed || failure == Cause::kConnectTimeout)
      << outcome.attempts();
}

/// A port of 127.0.0.1 where attempts to connect get no answer: its queue is full and nobody
/// accepts.
class SilentPort {
 public:
  SilentPort() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(::bind(listener_, any(), size), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    EXPECT_EQ(::getsockname(listener_, any(), &size), 0);
    for (int& fd : fillers_) {
      fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      ::connect(fd, any(), size);
    }
  }
  ~SilentPort() {
    ::close(listener_);
    for (const int fd : fillers_) ::close(fd);
  }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;

  std::string uri() const { return absl::StrCat("http://127.0.0.1:", ntohs(address_.sin_port)); }

 private:
  sockaddr* any() { return reinterpret_cast<sockaddr*>(&address_); }

  const int listener_;
  sockaddr_in address_{};
  int fillers_[8];
};

TEST_F(FailoverCases, B083_AnAddressThatNeverAnswersSendsTheRequestElsewhere) {
  const SilentPort silent;
  second_ = StartEngine();
  config::Config config = ConfigFor(silent.uri());
  config.pools[0].endpoints.push_back({"b", second_->uri()});
  config.pools[0].timeouts.connect = milliseconds(50);
  config.pools[0].health.consecutive_failures = 1;
  StartGateway(config, 1);
  second_->AnswerAll(Good());
  const Outcome first = Run();
  ExpectPassed(first, kGood);
  EXPECT_EQ(first.attempts(), "connect_timeout -");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Run().attempts(), "-");
}

TEST_F(FailoverCases, B131_ANameIsTriedAtEachOfItsAddresses) {
  engine_ = StartEngine();
  // Where the system lists ::1 first, nothing listens there.
  StartGateway(ConfigFor(absl::StrCat("http://localhost:", engine_->port())), 1);
  const Outcome outcome = RunScript(Good());
  ExpectPassed(outcome, kGood);
  EXPECT_EQ(outcome.attempts(), "-");
}

}  // namespace
}  // namespace sluice::testing
