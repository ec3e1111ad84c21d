#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "lib/config/store.h"
#include "lib/relay/proxy.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "tests/support/fake_branches.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_parking_lot.h"
#include "tests/support/fake_random.h"
#include "tests/support/heap_count.h"

// What a stream costs in heap memory while it lives: beside it, a gateway holds its connections'.

namespace sluice::relay {
namespace {

constexpr size_t kBytesPerStream = 3072;

/// As engines write them.
std::string Frame(absl::string_view text) {
  return absl::StrCat(
      R"(data: {"id":"chatcmpl-8f2c1e0b7a6d4c3b9e5f","object":"chat.completion.chunk",)",
      R"("created":1764803003,"model":"lantern-8b-instruct","system_fingerprint":"fp_44709d6fcb",)",
      R"("choices":[{"index":0,"delta":{"content":")", text,
      R"("},"logprobs":null,"finish_reason":null}]})", "\n\n");
}

/// Streams the same frame for ever.
class EndlessStream final : public UpstreamStream {
 public:
  WaitResult ReadHead(Instant, ResponseHead* head) override {
    head->status = 200;
    head->reason = "OK";
    head->headers.Add("Content-Type", "text/event-stream; charset=utf-8");
    for (int i = 0; i < 12; ++i) {
      head->headers.Add(absl::StrCat("X-Header-Of-Engine-", i), std::string(60, 'v'));
    }
    return {};
  }
  WaitResult ReadBody(Instant, absl::string_view* piece, bool* last) override {
    *piece = frame_;
    *last = false;
    return {};
  }
  Instant connected_at() const override { return Instant(); }

 private:
  const absl::string_view frame_ = FrameOfAll();
  static absl::string_view FrameOfAll() {
    static const std::string frame = Frame(" word");
    return frame;
  }
};

class EndlessTransport final : public Transport {
 public:
  OpenResult Open(const UpstreamAddress&, const OutboundRequest&, Instant) override {
    return {std::make_unique<EndlessStream>(), {}};
  }
};

class DiscardingSink final : public ClientSink {
 public:
  void WriteHead(const ResponseHead&) override {}
  Result Flush(Duration) override { return Result::kOk; }
  Result Write(absl::string_view, Duration) override { return Result::kOk; }
};

class RelayMemoryTest : public ::testing::Test {
 protected:
  RelayMemoryTest() {
    observers_.Add(&registry_);
    SetLogSink([](absl::string_view) {});
    config::Config config;
    config.pools.push_back(
        {.id = "chat", .endpoints = {{"worker-1", "http://worker-1.test:8000"}}});
    config.routes.push_back({"*", "chat"});
    EXPECT_TRUE(store_.Update(config, store_.Current()->etag()).ok());
    ServeOne();  // what is kept for all streams is there
  }
  ~RelayMemoryTest() override { SetLogSink(nullptr); }

  std::unique_ptr<Answer> ServeOne() {
    Request request;
    request.method = "POST";
    request.target = "/v1/chat/completions";
    request.headers.Add("Content-Type", "application/json");
    request.headers.Add("User-Agent", "OpenAI/Python 1.58.1 with a long name");
    request.body = absl::StrCat(R"({"model":"lantern-8b-instruct","stream":true,"messages":[")",
                                std::string(20'000, 'x'), "\"]}");
    request.client_address = "192.0.2.7:50000";
    return proxy_.Serve(std::move(request), clock_.Now(), cancellation_);
  }

  testing::FakeClock clock_;
  Cancellation cancellation_;
  Observers observers_;
  ExchangeRegistry registry_{/*finished_kept=*/0};
  EndlessTransport transport_;
  testing::FakeRandom random_;
  upstream::EndpointTable endpoints_{clock_, random_};
  upstream::RetryBudgets retry_budgets_;
  upstream::HedgeBudgets hedge_budgets_;
  upstream::KeyRing keys_{clock_, random_};
  config::Store store_{clock_};
  admission::Gate gate_{clock_};
  testing::FakeParkingLot parking_lot_{clock_, cancellation_};
  testing::FakeBranches branches_;
  Proxy proxy_{ProxyDeps{.clock = clock_,
                         .config = store_,
                         .client_keys = nullptr,
                         .gate = gate_,
                         .endpoints = endpoints_,
                         .keys = keys_,
                         .retry_budgets = retry_budgets_,
                         .hedge_budgets = hedge_budgets_,
                         .transport = transport_,
                         .parking_lot = parking_lot_,
                         .branches = branches_,
                         .observer = observers_,
                         .registry = registry_}};
  DiscardingSink sink_;
};

TEST_F(RelayMemoryTest, LiveStreamOwnsLittle) {
  testing::HeapCount heap;
  const std::unique_ptr<Answer> answer = ServeOne();
  EXPECT_EQ(answer->Next(sink_), Answer::Step::kMore);
  for (int i = 0; i < 10; ++i) answer->Next(sink_);
  EXPECT_LE(heap.owned() - sizeof(EndlessStream), kBytesPerStream);
}

TEST_F(RelayMemoryTest, RelayedPieceAllocatesNothing) {
  const std::unique_ptr<Answer> answer = ServeOne();
  for (int i = 0; i < 2; ++i) answer->Next(sink_);
  testing::HeapCount heap;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(answer->Next(sink_), Answer::Step::kMore);
  EXPECT_EQ(heap.calls(), 0u);
}

TEST_F(RelayMemoryTest, FinishedStreamLeavesNothing) {
  testing::HeapCount heap;
  {
    const std::unique_ptr<Answer> answer = ServeOne();
    answer->Next(sink_);
  }
  EXPECT_EQ(heap.owned(), 0u);
}

}  // namespace
}  // namespace sluice::relay
