// The daemon where something runs out: descriptors, or memory if a body could cost more than
// itself.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

class ExhaustionTest : public ::testing::Test {
 protected:
  ExhaustionTest() { engine_->AnswerAll(Script().Json("{}")); }

  RawClient Connect() { return RawClient::Connect(daemon_.port()).value(); }
  RawResponse Ask(const std::string& request) {
    RawClient client = Connect();
    client.Send(request).IgnoreError();  // it may be refused before all is sent
    return client.ReadResponse().value_or(RawResponse());
  }
  std::string Proc(absl::string_view name) {
    return absl::StrCat("/proc/", daemon_.child().pid(), "/", name);
  }

  /// The most memory that the daemon ever held.
  size_t PeakBytes() {
    std::ifstream status(Proc("status"));
    for (std::string line; std::getline(status, line);) {
      size_t kib = 0;
      if (absl::StartsWith(line, "VmHWM:") &&
          absl::SimpleAtoi(absl::string_view(line).substr(6, line.size() - 9), &kib)) {
        return kib << 10;
      }
    }
    ADD_FAILURE() << "no VmHWM";
    return 0;
  }

  std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  TempFile file_{ConfigFor(engine_->uri())};
  Daemon daemon_{{absl::StrCat("--config=", file_.path())}};
};

TEST_F(ExhaustionTest, WithoutDescriptorsItTurnsClientsAwayGoesOnAndRecovers) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UBSan opens a pipe to look at an object's type, and ends the daemon without one";
#endif
  engine_->Enqueue(
      Script().SseHead().Chunk(ContentEvent("a")).Gate("rest").Chunk(kDoneEvent).LastChunk());
  RawClient streaming = Connect();
  ASSERT_TRUE(streaming.Send(ChatRequest()).ok());
  ASSERT_TRUE(streaming.ReadHead().ok());
  ASSERT_EQ(streaming.ReadChunk().value_or(""), ContentEvent("a"));

  using std::filesystem::directory_iterator;
  constexpr int kSpare = 20;
  rlimit limit;
  ASSERT_EQ(::prlimit(daemon_.child().pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  limit.rlim_cur = static_cast<rlim_t>(std::distance(directory_iterator(Proc("fd")), {}) + kSpare);
  ASSERT_EQ(::prlimit(daemon_.child().pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  std::vector<RawClient> crowd;
  for (int i = 0; i < 10 * kSpare; ++i) crowd.push_back(Connect());
  for (size_t i = crowd.size() / 2; i < crowd.size(); ++i) {
    ASSERT_EQ(crowd[i].ReadResponse().value_or(RawResponse()).status, 503) << i;
  }
  // One that was let in finds no way on.
  ASSERT_TRUE(crowd[0].Send(ChatRequest(false)).ok());
  const RawResponse stuck = crowd[0].ReadResponse().value_or(RawResponse());
  EXPECT_EQ(stuck.status, 503);
  EXPECT_THAT(stuck.body, HasSubstr(R"("code":"no_capacity")"));

  crowd.clear();
  EXPECT_TRUE(Eventually([&] { return Ask(ChatRequest(false)).status == 200; }));
  engine_->OpenGate("rest");
  EXPECT_EQ(streaming.ReadChunk().value_or("nothing"), kDoneEvent);
}

TEST_F(ExhaustionTest, LinesWithoutAnEndCostNothing) {
  ASSERT_EQ(Ask(ChatRequest(false)).status, 200);
  const size_t before = PeakBytes();
  const std::string endless(10 << 20, 'a');
  const std::string head = "POST / HTTP/1.1\r\nHost: g\r\n";
  EXPECT_EQ(Ask(absl::StrCat("GET /", endless)).status, 414);
  EXPECT_EQ(Ask(absl::StrCat(head, "X: ", endless)).status, 431);
  EXPECT_EQ(Ask(absl::StrCat(head, endless)).status, 431);
  EXPECT_EQ(Ask(absl::StrCat(head, "Transfer-Encoding: chunked\r\n\r\n1;", endless)).status, 400);
  EXPECT_EQ(Ask(absl::StrCat(head, "Transfer-Encoding: chunked\r\n\r\n", endless)).status, 400);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LE(PeakBytes() - before, size_t{1} << 20);
#endif
  EXPECT_EQ(Ask(ChatRequest(false)).status, 200);
}

/// A large body made to cost whoever reads it more than its bytes.
struct Costly {
  std::string name;
  std::string body;
  int status;

  friend void PrintTo(const Costly& value, std::ostream* out) { *out << value.name; }
};

class AmplificationTest : public ExhaustionTest, public ::testing::WithParamInterface<Costly> {};

constexpr size_t kBodyBytes = size_t{20} << 20;
// The body as it is read and as it is kept, with what growing them costs, and one copy to
// understand it.
constexpr size_t kMostMemory = 4 * kBodyBytes;

std::string Filled(absl::string_view start, absl::string_view unit, absl::string_view end) {
  std::string body(start);
  body.reserve(kBodyBytes + unit.size() + end.size());
  while (body.size() < kBodyBytes) body.append(unit.data(), unit.size());
  return body.append(end.data(), end.size());
}

TEST_P(AmplificationTest, CostsARequestNoMoreThanAFewTimesItsBody) {
  ASSERT_EQ(Ask(ChatRequest(false)).status, 200);
  const size_t before = PeakBytes();
  EXPECT_EQ(Ask(PostRequest("/v1/chat/completions", GetParam().body)).status, GetParam().status);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LE(PeakBytes() - before, kMostMemory);
#endif
  EXPECT_EQ(Ask(ChatRequest(false)).status, 200);
}

TEST_P(AmplificationTest, CostsAnAnswerNoMoreThanAFewTimesItsBody) {
  ASSERT_EQ(Ask(ChatRequest(false)).status, 200);
  const size_t before = PeakBytes();
  engine_->Enqueue(Script().Json(GetParam().body));
  const RawResponse unary = Ask(ChatRequest(false));
  EXPECT_TRUE(unary.body == GetParam().body);
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(ContentEvent("a"))
                       .Chunk(absl::StrCat("data: ", GetParam().body, "\n\n"))
                       .Chunk(FinishEvent())
                       .Chunk(kDoneEvent)
                       .LastChunk());
  EXPECT_EQ(Ask(ChatRequest()).body, absl::StrCat(ContentEvent("a"), "data: ", GetParam().body,
                                                  "\n\n", FinishEvent(), kDoneEvent));
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LE(PeakBytes() - before, kMostMemory);
#endif
}

constexpr absl::string_view kStart = R"({"model":"m1","stream":false,"x":)";

INSTANTIATE_TEST_SUITE_P(
    , AmplificationTest,
    ::testing::Values(
        Costly{"Brackets", Filled("", "[", ""), 400},
        Costly{"NestedArrays", Filled(kStart, "[", ""), 400},
        Costly{"NestedObjects", Filled(kStart, "{\"a\":", ""), 400},
        Costly{"Zeros", Filled(absl::StrCat(kStart, "["), "0,", "0]}"), 200},
        Costly{"EmptyObjects", Filled(absl::StrCat(kStart, "["), "{},", "0]}"), 200},
        Costly{"Keys", Filled(absl::StrCat(kStart, "0"), R"(,"k":{"k":0})", "}"), 200},
        Costly{"OneNumber", Filled(kStart, "1234567890", "}"), 200},
        Costly{"OneString", Filled(absl::StrCat(kStart, "\""), "abcdefgh", "\"}"), 200},
        Costly{"Escapes", Filled(absl::StrCat(kStart, "\""), "\\u00e9\\n", "\"}"), 200},
        Costly{"HalvesOfPairs", Filled(absl::StrCat(kStart, "\""), "\\ud800", "\"}"), 200},
        Costly{"LongModel", Filled(R"({"model":")", "m", "\"}"), 400},
        Costly{"Prompt",
               Filled(R"({"model":"m1","messages":[)", R"({"role":"user","content":"a"},)", "0]}"),
               200}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sluice::testing
