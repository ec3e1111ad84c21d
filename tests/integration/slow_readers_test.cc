// Clients that read the start of an endless stream and then nothing, many at once: what they cost
// the daemon, and how they end. SLUICE_SLOW_READERS says how many (50 unless set).

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/daemon.h"
#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;

/// What one may cost, by the size of its events: what was read last and is not written, and the
/// part of an event that has come.
struct Cost {
  size_t event_bytes = 0;
  int64_t most_kib = 0;
};
constexpr Cost kCosts[] = {{200, 64}, {16 << 10, 96}};

#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kSanitizerKib = 1 << 20;  // keeps freed memory, in all
#else
constexpr int64_t kSanitizerKib = 0;
#endif

/// Readings in a row in which nothing moves: then nothing will.
constexpr int kStill = 50;

int Readers() {
  int readers = 50;
  const char* text = std::getenv("SLUICE_SLOW_READERS");
  return text != nullptr && absl::SimpleAtoi(text, &readers) ? readers : 50;
}

/// Who asks for the model "hasty" is given up soon, who asks for another one is not.
std::string Config(const std::string& uri) {
  const auto pool = [&uri](absl::string_view id, absl::string_view stall) {
    return absl::StrCat(R"({"id":")", id, R"(","endpoints":[{"id":"a","uri":")", uri,
                        R"("}],"timeouts":{"client_stall":")", stall, R"("}})");
  };
  return absl::StrCat(R"({"pools":[)", pool("patient", "600s"), ",", pool("hasty", "0.2s"),
                      R"(],"routes":[{"model":"hasty","pool":"hasty"},)",
                      R"({"model":"*","pool":"patient"}]})");
}

class SlowReadersTest : public ::testing::Test {
 protected:
  SlowReadersTest() {
    RaiseFdLimit();
    AnswerWith(1024);
  }

  void AnswerWith(size_t event_bytes) {
    event_ = ContentEvent(std::string(event_bytes, 'x'));
    engine_->AnswerAll(Script().SseHead().Repeat(kForever, Script().Chunk(event_)));
  }

  static std::unique_ptr<ScriptedEngine> StartEngine() {
    ScriptedEngine::Options options;
    options.keep_requests = false;
    return *ScriptedEngine::Start(options);
  }

  /// Each has read one event when this returns.
  std::vector<RawClient> Open(int readers, absl::string_view model) {
    const std::string request =
        PostRequest("/v1/chat/completions",
                    absl::StrCat(R"({"model":")", model, R"(","stream":true,"messages":[]})"));
    std::vector<RawClient> clients;
    for (int i = 0; i < readers; ++i) {
      clients.push_back(*RawClient::Connect(daemon_.port(), {.receive_buffer_bytes = 4096}));
      EXPECT_TRUE(clients.back().Send(request).ok());
    }
    for (RawClient& client : clients) EXPECT_TRUE(client.ReadBytes(event_.size()).ok());
    return clients;
  }

  std::vector<pb::Exchange> List(pb::ListExchangesRequest::Selection selection) {
    grpc::ClientContext context;
    pb::ListExchangesRequest request;
    request.set_page_size(1000);
    request.set_selection(selection);
    pb::ListExchangesResponse page;
    EXPECT_TRUE(observer_->ListExchanges(&context, request, &page).ok());
    return {page.exchanges().begin(), page.exchanges().end()};
  }

  std::string event_;
  std::unique_ptr<ScriptedEngine> engine_ = StartEngine();
  const TempFile config_{Config(engine_->uri())};
  Daemon daemon_{{absl::StrCat("--config=", config_.path())}};
  const std::unique_ptr<pb::ObserverService::Stub> observer_ =
      pb::ObserverService::NewStub(grpc::CreateChannel(
          absl::StrCat("127.0.0.1:", daemon_.control_port()), grpc::InsecureChannelCredentials()));
};

class SlowReadersCost : public SlowReadersTest, public ::testing::WithParamInterface<Cost> {};

TEST_P(SlowReadersCost, IsLittleAndTheirUpstreamsAreHeldBack) {
  const int readers = Readers();
  AnswerWith(GetParam().event_bytes);
  {
    const std::vector<RawClient> warm_up = Open(2, "patient");
    EXPECT_EQ(List(pb::ListExchangesRequest::SELECTION_LIVE).size(), 2u);
  }
  ASSERT_TRUE(engine_->WaitForCancelled(2));
  const int64_t before = daemon_.RssKib();
  const int64_t bound = GetParam().most_kib * readers + kSanitizerKib;
  const std::vector<RawClient> clients = Open(readers, "patient");
  int64_t most = 0;
  int64_t bytes = 0;
  int still = 0;
  EXPECT_TRUE(Eventually([&] {
    int64_t sum = 0;
    for (const pb::Exchange& exchange : List(pb::ListExchangesRequest::SELECTION_LIVE)) {
      sum += exchange.upstream_bytes();
    }
    most = std::max(most, daemon_.RssKib());
    still = sum == std::exchange(bytes, sum) ? still + 1 : 0;
    return still == kStill || most - before > 10 * bound;
  })) << "their upstreams are read on";
  std::cout << readers << " slow readers of events of " << GetParam().event_bytes
            << " bytes: at most " << (most - before) / readers << " KiB each, "
            << bytes / readers / 1024 << " KiB read for each" << std::endl;
  EXPECT_LE(most - before, bound);
  EXPECT_EQ(List(pb::ListExchangesRequest::SELECTION_LIVE).size(), static_cast<size_t>(readers));
}

INSTANTIATE_TEST_SUITE_P(, SlowReadersCost, ::testing::ValuesIn(kCosts), [](const auto& test) {
  return absl::StrCat("OfEventsOf", test.param.event_bytes);
});

TEST_F(SlowReadersTest, AreGivenUpAsTooSlow) {
  const int readers = Readers();
  const std::vector<RawClient> clients = Open(readers, "hasty");
  EXPECT_TRUE(engine_->WaitForCancelled(static_cast<uint64_t>(readers)));
  std::vector<pb::Exchange> finished;
  EXPECT_TRUE(Eventually([&] {
    finished = List(pb::ListExchangesRequest::SELECTION_FINISHED);
    return finished.size() == static_cast<size_t>(readers);
  }));
  for (const pb::Exchange& exchange : finished) {
    EXPECT_EQ(exchange.finished().cause(), pb::CAUSE_CLIENT_TOO_SLOW) << exchange.DebugString();
  }
}

}  // namespace
}  // namespace sluice::testing
