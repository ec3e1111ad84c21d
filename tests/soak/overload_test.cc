// Ten times the load that a pool can take: who is served, who is refused, and how. For
// SLUICE_OVERLOAD_SECONDS; only where that is set do figures of time count. See README.md.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/soak/core_gateway.h"
#include "tests/support/eventually.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock;

constexpr int kSlots = 8;
constexpr size_t kQueue = 16;
constexpr milliseconds kWork{50};  // of the engine, for each request
/// So many clients, each of which comes again so soon after a refusal, are over ten times what
/// `kSlots` serve.
constexpr int kCrowd = 120;
constexpr milliseconds kReturn{50};

constexpr double kLeastGoodput = 0.95;
constexpr milliseconds kLongestRefusal{50};

int Seconds() {
  int seconds = 0;
  const char* text = std::getenv("SLUICE_OVERLOAD_SECONDS");
  return text != nullptr && absl::SimpleAtoi(text, &seconds) ? seconds : 0;
}

/// What a crowd of clients met.
struct Met {
  int served = 0;
  int refused = 0;
  std::vector<Time::duration> refusals;  // how long each took

  Time::duration Percentile(double share) {
    if (refusals.empty()) return {};
    std::sort(refusals.begin(), refusals.end());
    return refusals[static_cast<size_t>(share * static_cast<double>(refusals.size() - 1))];
  }
};

class OverloadTest : public ::testing::Test {
 protected:
  OverloadTest() {
    RaiseFdLimit();
    SetLogSink([](absl::string_view) {});
    gateway_.ServeFirst();
    engine_->AnswerAll(Script().Pause(kWork).Json("{}"));
    config::Config config;
    config::Pool& pool = config.pools.emplace_back();
    pool.id = "chat";
    pool.endpoints = {{"a", engine_->uri()}};
    pool.max_in_flight = kSlots;
    pool.queue.capacity = static_cast<int>(kQueue);
    config.routes.push_back({"*", "chat"});
    EXPECT_TRUE(gateway_.store.Update(std::move(config), gateway_.store.Current()->etag()).ok());
  }
  ~OverloadTest() override {
    gateway_.End();
    SetLogSink(nullptr);
  }

  static std::unique_ptr<ScriptedEngine> StartEngine() {
    ScriptedEngine::Options options;
    options.keep_requests = false;
    return *ScriptedEngine::Start(options);
  }

  RawResponse Ask() {
    absl::StatusOr<RawClient> client = RawClient::Connect(gateway_.port());
    if (!client.ok() || !client->Send(ChatRequest(false)).ok()) return {};
    return client->ReadResponse().value_or(RawResponse());
  }

  void AskAgainAndAgain(Time::time_point end) {
    while (Time::now() < end) {
      const Time::time_point asked = Time::now();
      const RawResponse response = Ask();
      const Time::duration took = Time::now() - asked;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (response.status == 200) {
          ++met_.served;
          continue;
        }
        EXPECT_EQ(response.status, 503);
        EXPECT_EQ(response.HeaderValues("Retry-After").size(), 1u);
        ++met_.refused;
        met_.refusals.push_back(took);
      }
      std::this_thread::sleep_for(kReturn);
    }
  }

  Met Run(int clients, std::chrono::seconds length) {
    met_ = {};
    std::vector<std::thread> threads;
    const Time::time_point end = Time::now() + length;
    for (int i = 0; i < clients; ++i) threads.emplace_back([this, end] { AskAgainAndAgain(end); });
    while (Time::now() < end) {
      deepest_ = std::max(deepest_, gateway_.gate.queues.Depth("chat"));
      most_at_work_ = std::max(most_at_work_, gateway_.gate.pools.Read("chat"));
      std::this_thread::sleep_for(milliseconds(1));
    }
    for (std::thread& thread : threads) thread.join();
    return met_;
  }

  std::unique_ptr<ScriptedEngine> engine_ = StartEngine();
  CoreGateway gateway_;
  size_t deepest_ = 0;
  int most_at_work_ = 0;
  std::mutex mutex_;
  Met met_;
};

TEST_F(OverloadTest, ServesAsManyAsItCanAndRefusesTheRestAtOnce) {
  const std::chrono::seconds length(std::max(Seconds(), 1));
  const Met alone = Run(kSlots, length);
  EXPECT_EQ(alone.refused, 0);
  Met crowd = Run(kCrowd, length);
  EXPECT_GT(crowd.refused, 0);
  EXPECT_LE(deepest_, kQueue);
  EXPECT_LE(most_at_work_, kSlots);
  const double goodput = static_cast<double>(crowd.served) / std::max(alone.served, 1);
  const Time::duration slow_refusal = crowd.Percentile(0.99);
  std::cout << "served " << alone.served << " alone, " << crowd.served << " in the crowd ("
            << goodput << "), refused " << crowd.refused << ", 99% of them within "
            << std::chrono::duration<double, std::milli>(slow_refusal).count() << " ms"
            << std::endl;
  if (Seconds() > 0) {
    EXPECT_GE(goodput, kLeastGoodput);
    EXPECT_GE(crowd.refused, 9 * alone.served) << "no tenfold load";
    EXPECT_LE(slow_refusal, kLongestRefusal);
  }

  EXPECT_EQ(Ask().status, 200) << "back to normal";
  EXPECT_TRUE(Eventually([this] {
    return gateway_.gate.queues.Depth("chat") == 0 && gateway_.gate.pools.Read("chat") == 0;
  }));
  const uint64_t served = static_cast<uint64_t>(alone.served + crowd.served + 1);
  EXPECT_TRUE(engine_->WaitForAnswered(served));
  EXPECT_EQ(engine_->counts().answered, served);
  EXPECT_EQ(engine_->counts().requests, served);
}

}  // namespace
}  // namespace sluice::testing
