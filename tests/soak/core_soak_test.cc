// The data plane alone on a bad day, with all its threads: what ThreadSanitizer can look at. See
// README.md.

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/soak/bad_day.h"
#include "tests/soak/chaos_engine.h"
#include "tests/soak/core_gateway.h"
#include "tests/support/eventually.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

constexpr int kClients = 24;

config::Config TwoEngines(const std::string& first, const std::string& second) {
  config::Config config;
  config::Pool& pool = config.pools.emplace_back();
  pool.id = "chat";
  pool.endpoints = {{"a", first}, {"b", second}};
  pool.health.consecutive_failures = 1000;
  pool.retry.max_attempts = 3;
  pool.hedge.after = milliseconds(5);
  pool.max_in_flight = kClients - 4;
  pool.queue.capacity = kClients;
  config.routes.push_back({"*", "chat"});
  return config;
}

class CoreSoakTest : public ::testing::Test {
 protected:
  CoreSoakTest() {
    SetLogSink([this](absl::string_view) { ++log_lines_; });
    const auto applied = gateway_.store.Update(TwoEngines(first_->uri(), second_->uri()),
                                               gateway_.store.Current()->etag());
    EXPECT_TRUE(applied.ok()) << applied.status();
    gateway_.ServeFirst();
  }
  ~CoreSoakTest() override {
    day_.End();
    gateway_.End();
    SetLogSink(nullptr);
  }

  /// A pool comes or goes, or an older configuration comes back.
  void ChangeConfig(BadDay::Random& random) {
    const std::shared_ptr<const config::Snapshot> current = gateway_.store.Current();
    config::Config config = current->config();
    const auto before = gateway_.store.FindVersion(current->generation() - 1);
    if (random() % 8 == 0 && before != nullptr && !before->config.pools.empty()) {
      config = before->config;
    } else if (config.pools.size() > 1) {
      config.pools.pop_back();
    } else {
      config.pools.push_back(config.pools[0]);
      config.pools[1].id = absl::StrCat("extra-", random() % 1000);
    }
    if (gateway_.store.Update(std::move(config), current->etag()).ok()) ++config_changes_;
    day_.Pause(milliseconds(random() % 30));
  }

  void DrainAndResume(BadDay::Random& random) {
    const char* name = random() % 2 == 0 ? "pools/chat/endpoints/a" : "pools/chat/endpoints/b";
    gateway_.endpoints.SetDraining(name, true);
    day_.Pause(milliseconds(random() % 50));
    gateway_.endpoints.SetDraining(name, false);
    day_.Pause(milliseconds(random() % 200));
  }

  /// Looks at all that operators may see, taps one stream and cancels another.
  void Operate(BadDay::Random& random) {
    const std::vector<ExchangeView> running = gateway_.registry.ListRunning();
    (void)gateway_.registry.ListFinished();
    (void)gateway_.registry.RunningByGeneration();
    (void)gateway_.endpoints.ReadAll();
    (void)gateway_.upstreams.pooled();
    if (!running.empty()) {
      const ExchangeId id = running[random() % running.size()].info().id;
      if (const std::shared_ptr<Tap> tap = gateway_.registry.AddTap(id)) {
        day_.Pause(milliseconds(random() % 20));
        frames_tapped_ += tap->Take().frames.size();
        gateway_.registry.RemoveTap(id, tap);
      }
      gateway_.registry.Cancel(running[random() % running.size()].info().id,
                               Cause::kCancelledByOperator, gateway_.clock.Now(), "soak");
    }
    day_.Pause(milliseconds(random() % 20));
  }

  /// Hears all events until there are no more.
  void Follow() {
    events::Reader reader(gateway_.hub, 0);
    while (true) {
      const bool over = day_over_;
      gateway_.hub.WaitPast(reader.position(), milliseconds(10));
      events::Reader::Batch batch = reader.Read();
      if (over && batch.events.empty() && batch.lost == 0) return;
      lost_ += batch.lost;
      for (const events::Event& event : batch.events) {
        const auto* finished = std::get_if<std::shared_ptr<const Exchange>>(&event.what);
        if (finished == nullptr) continue;
        ++finished_;
        tokens_ += (*finished)->usage.value_or(Usage()).total_tokens;
      }
    }
  }

  bool AtRest() const {
    bool leased = false;
    for (const auto& endpoint : gateway_.endpoints.ReadAll()) leased |= endpoint.in_flight != 0;
    size_t sockets = 0;
    size_t fibers = 0;
    for (const auto& loop : gateway_.loops.loops()) {
      sockets += loop->sockets();
      fibers += loop->fibers();
    }
    return !leased && gateway_.registry.books().running == 0 && gateway_.proxy.in_flight() == 0 &&
           gateway_.gate.pools.Read("chat") == 0 && gateway_.gate.queues.Depth("chat") == 0 &&
           gateway_.branches.running() == 0 && gateway_.upstreams.open() == 0 &&
           gateway_.server.connections() == 0 && sockets == 1 && fibers == 1;  // the listener's
  }

  BadDay day_{5};
  std::unique_ptr<ScriptedEngine> first_ = StartChaosEngine(day_.seed());
  std::unique_ptr<ScriptedEngine> second_ = StartChaosEngine(day_.seed() + 1);
  CoreGateway gateway_;
  std::atomic<uint64_t> log_lines_{0};
  std::atomic<uint64_t> config_changes_{0};
  std::atomic<uint64_t> frames_tapped_{0};
  std::atomic<bool> day_over_{false};
  uint64_t lost_ = 0;  // the three of Follow's thread, until it has ended
  int64_t finished_ = 0;
  int64_t tokens_ = 0;
};

TEST_F(CoreSoakTest, KeepsItsPromisesOnABadDay) {
  std::thread follower([this] { Follow(); });
  day_.Serve(kClients, gateway_.port());
  day_.Meanwhile([this](BadDay::Random& random) { ChangeConfig(random); });
  day_.Meanwhile([this](BadDay::Random& random) { DrainAndResume(random); });
  day_.Meanwhile([this](BadDay::Random& random) { Operate(random); });
  day_.Meanwhile([this](BadDay::Random& random) {
    day_.Pause(milliseconds(500 + random() % 2000));
    (random() % 2 == 0 ? first_ : second_)->ResetConnections();
  });
  day_.Pass();
  gateway_.upstreams.ClosePools();
  EXPECT_TRUE(Eventually([this] { return AtRest(); }));
  day_over_ = true;
  follower.join();

  EXPECT_THAT(day_.faults(), ::testing::IsEmpty());
  const ExchangeRegistry::Books books = gateway_.registry.books();
  uint64_t closed = 0;
  for (const auto& [cause, exchanges] : books.finished) {
    closed += exchanges;
    std::cout << InfoOf(cause).label << ": " << exchanges << "\n";
  }
  EXPECT_EQ(closed, books.entered);
  const auto totals = gateway_.usage.Read({}).rows;
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].sums.exchanges, static_cast<int64_t>(closed));
  EXPECT_EQ(log_lines_, closed);
  if (lost_ == 0) {
    EXPECT_EQ(finished_, totals[0].sums.exchanges);
    EXPECT_EQ(tokens_, totals[0].sums.total_tokens);
  }
  EXPECT_GT(day_.ends()["whole"], 0u);
  EXPECT_GT(day_.ends()["error event"], 0u);
  EXPECT_GT(config_changes_, 0u);
  EXPECT_GT(frames_tapped_, 0u);
  std::cout << "exchanges: " << closed << ", tokens: " << totals[0].sums.total_tokens
            << ", config changes: " << config_changes_ << ", frames tapped: " << frames_tapped_
            << ", events lost by the follower: " << lost_ << std::endl;
}

}  // namespace
}  // namespace sluice::testing
