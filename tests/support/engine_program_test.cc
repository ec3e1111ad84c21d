#include <signal.h>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/child_process.h"
#include "tests/support/raw_client.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = SLUICE_BIN "/sluice-engine";
constexpr char kStream[] = SLUICE_TEST_DATA "/demo.sse";

/// Starts it on a free port with no pauses.
class EngineProgram {
 public:
  explicit EngineProgram(std::vector<std::string> args) : child_(WithDefaults(std::move(args))) {
    constexpr absl::string_view kListening = "listening on http://127.0.0.1:";
    EXPECT_TRUE(child_.WaitForOut("\n")) << child_.err();
    EXPECT_THAT(child_.out(), ::testing::StartsWith(std::string(kListening)));
    const std::string port_text =
        child_.out().substr(kListening.size(), child_.out().find('\n') - kListening.size());
    EXPECT_TRUE(absl::SimpleAtoi(port_text, &port_)) << child_.out();
  }

  RawResponse Ask(absl::string_view request) {
    RawClient client = RawClient::Connect(static_cast<uint16_t>(port_)).value();
    EXPECT_TRUE(client.Send(request).ok());
    return client.ReadResponse().value();
  }

  ChildProcess& child() { return child_; }
  uint16_t port() const { return static_cast<uint16_t>(port_); }

 private:
  static std::vector<std::string> WithDefaults(std::vector<std::string> args) {
    std::vector<std::string> all = {kProgram, "--listen", "127.0.0.1:0", "--pause-ms", "0"};
    all.insert(all.end(), args.begin(), args.end());
    return all;
  }

  ChildProcess child_;
  int port_ = 0;
};

TEST(EngineProgramTest, ReplaysAStreamOneEventAPiece) {
  EngineProgram engine({"--stream", kStream});
  const RawResponse response = engine.Ask(ChatRequest());
  EXPECT_TRUE(response.complete());
  EXPECT_GT(response.chunks.size(), 20u);
  for (const std::string& chunk : response.chunks) EXPECT_THAT(chunk, ::testing::EndsWith("\n\n"));
  EXPECT_EQ(response.chunks.back(), "data: [DONE]\n\n");
  EXPECT_TRUE(engine.child().WaitForOut("request 1 answered: "));
  EXPECT_THAT(
      engine.child().out(),
      HasSubstr("request 1 on connection 1: POST /v1/chat/completions model=m1 stream=true\n"));
}

TEST(EngineProgramTest, CutsAndRepeatsAsTold) {
  EngineProgram whole({"--stream", kStream});
  EngineProgram cut({"--stream", kStream, "--piece-bytes", "10", "--repeat", "2"});
  const std::string once = whole.Ask(ChatRequest()).body;
  const RawResponse twice = cut.Ask(ChatRequest());
  const std::string done = "data: [DONE]\n\n";
  const std::string repeated = once.substr(0, once.size() - done.size());
  EXPECT_EQ(twice.body, absl::StrCat(repeated, repeated, done));
  EXPECT_EQ(twice.chunks[0].size(), 10u);
}

TEST(EngineProgramTest, AnswersJsonWhenNoStreamIsAsked) {
  EngineProgram engine({"--stream", kStream});
  EXPECT_THAT(engine.Ask(ChatRequest(/*stream=*/false)).body,
              HasSubstr(R"("object":"chat.completion")"));
  EXPECT_THAT(engine.Ask(GetRequest("/v1/models")).body, HasSubstr(R"("object":"list")"));
  EXPECT_EQ(engine.Ask(GetRequest("/health")).body, R"({"status":"ok"})");
  EXPECT_EQ(engine.Ask(GetRequest("/nowhere")).status, 404);
}

TEST(EngineProgramTest, SaysWhenAClientLeft) {
  EngineProgram engine({"--silent"});
  {
    RawClient client = RawClient::Connect(engine.port()).value();
    ASSERT_TRUE(client.Send(ChatRequest()).ok());
    ASSERT_TRUE(client.ReadHead().ok());
  }
  EXPECT_TRUE(engine.child().WaitForOut("request 1: client left after 0 of 0 pieces (FIN)\n"))
      << engine.child().out();
}

TEST(EngineProgramTest, EndsCleanlyOnASignal) {
  for (const int number : {SIGTERM, SIGINT}) {
    EngineProgram engine({"--silent"});
    engine.child().Signal(number);
    EXPECT_EQ(engine.child().WaitForExit(), 0);
  }
}

TEST(EngineProgramTest, RefusesAWrongCommandLine) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{},
                                             {"--stream", "/nowhere.sse"},
                                             {"--stream", "/"},
                                             {"--silent", "--listen", "0.0.0.0:1"},
                                             {"--silent", "--repeat", "x"},
                                             {"--silent", "extra"},
                                             {"--unknown"}}) {
    std::vector<std::string> all = {kProgram};
    all.insert(all.end(), args.begin(), args.end());
    ChildProcess child(all);
    EXPECT_EQ(child.WaitForExit(), 2) << child.err();
    EXPECT_NE(child.err(), "");
  }
}

}  // namespace
}  // namespace sluice::testing
