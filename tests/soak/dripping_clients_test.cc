// Clients that send their heads or bodies a byte a second: all of them are cut, and nobody else
// waits for them. SLUICE_DRIPPING_CLIENTS says how many (100 unless set); only where it is set do
// figures of time count. See README.md.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/soak/core_gateway.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock;
using Millis = std::chrono::duration<double, std::milli>;

constexpr milliseconds kDrip{1000};
constexpr milliseconds kDeadline{3500};
constexpr milliseconds kTolerance{1000};
constexpr int kAsks = 1000;

/// How much longer one in a hundred may wait because of the crowd.
constexpr double kMostSlowdown = 1.1;
constexpr Millis kNoise{1};

int FromEnvironment() {
  int clients = 0;
  const char* text = std::getenv("SLUICE_DRIPPING_CLIENTS");
  return text != nullptr && absl::SimpleAtoi(text, &clients) ? clients : 0;
}

http::ServerOptions ShortDeadlines() {
  http::ServerOptions options;
  options.read.head = options.read.body_grace = kDeadline;
  return options;
}

class DrippingClientsTest : public ::testing::Test {
 protected:
  DrippingClientsTest() {
    RaiseFdLimit();
    SetLogSink([](absl::string_view) {});
    engine_->AnswerAll(Script().Json("{}"));
    config::Config config;
    config.pools.emplace_back().id = "chat";
    config.pools[0].endpoints = {{"a", engine_->uri()}};
    config.routes.push_back({"*", "chat"});
    EXPECT_TRUE(gateway_.store.Update(std::move(config), gateway_.store.Current()->etag()).ok());
  }
  ~DrippingClientsTest() override {
    gateway_.End();
    SetLogSink(nullptr);
  }

  /// How long the slowest but one in a hundred of other clients' requests takes.
  Millis SlowestAnswer() {
    std::vector<Time::duration> took;
    for (int i = 0; i < kAsks; ++i) {
      const Time::time_point start = Time::now();
      RawClient client = *RawClient::Connect(gateway_.port());
      EXPECT_TRUE(client.Send(ChatRequest(false)).ok());
      EXPECT_EQ(client.ReadResponse().value_or(RawResponse()).status, 200);
      took.push_back(Time::now() - start);
    }
    std::sort(took.begin(), took.end());
    return took[took.size() * 99 / 100];
  }

  std::vector<RawClient> OpenCrowd(int size) {
    std::vector<RawClient> crowd;
    for (int i = 0; i < size; ++i) {
      crowd.push_back(*RawClient::Connect(gateway_.port()));
      const char* start = i % 2 == 0 ? "POST / HTTP/1.1\r\nHost: g\r\nX: "
                                     : "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 99\r\n\r\n";
      EXPECT_TRUE(crowd.back().Send(start).ok());
    }
    return crowd;
  }

  std::unique_ptr<ScriptedEngine> engine_ = *ScriptedEngine::Start();
  CoreGateway gateway_{ShortDeadlines()};
};

TEST_F(DrippingClientsTest, AreAllCutAndNobodyElseWaits) {
  const bool in_full = FromEnvironment() > 0;
  const Millis alone = SlowestAnswer();
  const Time::time_point start = Time::now();
  std::vector<RawClient> crowd = OpenCrowd(in_full ? FromEnvironment() : 100);
  const Time::time_point all_there = Time::now();
  std::thread dripping([&] {
    for (auto next = start + kDrip; next < start + kDeadline - milliseconds(100); next += kDrip) {
      std::this_thread::sleep_until(next);
      for (RawClient& client : crowd) client.Send("a").IgnoreError();
    }
  });
  const Millis beside = SlowestAnswer();
  dripping.join();
  for (RawClient& client : crowd) {
    ASSERT_EQ(client.ReadResponse().value_or(RawResponse()).status, 408);
  }
  const Millis last_cut = Time::now() - all_there;
  std::cout << crowd.size() << " clients, the last one cut after " << last_cut.count()
            << " ms; others' 99th percentile: " << alone.count() << " ms without them, "
            << beside.count() << " ms with them" << std::endl;
  if (in_full) {
    EXPECT_LE(last_cut, kDeadline + kTolerance);
    EXPECT_LE(beside, alone * kMostSlowdown + kNoise);
  }
}

}  // namespace
}  // namespace sluice::testing
