// The real daemon on a bad day, for as long as SLUICE_SOAK_SECONDS says (8 unless set), from the
// seed in SLUICE_SOAK_SEED. See README.md.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/daemon.h"
#include "tests/soak/chaos_client.h"
#include "tests/soak/chaos_engine.h"
#include "tests/support/eventually.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;
using std::chrono::milliseconds;

constexpr int kClients = 24;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  uint64_t value = 0;
  const char* text = std::getenv(name);
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

std::string Config(const std::string& first, const std::string& second) {
  return absl::StrCat(
      R"({"pools":[{"id":"chat","retry":{"max_attempts":3},"health":{"consecutive_failures":1000},)",
      R"("endpoints":[{"id":"a","uri":")", first, R"("},{"id":"b","uri":")", second,
      R"("}]}],"routes":[{"model":"*","pool":"chat"}]})");
}

class SoakTest : public ::testing::Test {
 protected:
  ~SoakTest() override {
    StopAll();
    follow_.TryCancel();
    if (follower_.joinable()) follower_.join();
  }

  void StopAll() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  /// Runs `work` again and again on a thread of its own until the soak is over.
  void Meanwhile(std::function<void(std::mt19937_64&)> work) {
    threads_.emplace_back([this, work, seed = seed_ + threads_.size()] {
      std::mt19937_64 random(seed);
      while (!over_) work(random);
    });
  }

  void Pause(milliseconds length) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (!over_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(5));
    }
  }

  void Serve(int number) {
    threads_.emplace_back([this, number] {
      ChaosClient client(port_, seed_ + 1000 + static_cast<uint64_t>(number));
      while (!over_) {
        const std::string fault = client.Run(++last_stream_);
        if (fault.empty()) continue;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (faults_.size() < 20) faults_.push_back(fault);
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [end, count] : client.ends()) ends_[end] += count;
    });
  }

  /// A pool comes or goes, or an older configuration comes back.
  void ChangeConfig(std::mt19937_64& random) {
    grpc::ClientContext context;
    pb::Config config;
    if (!control_->GetConfig(&context, {}, &config).ok()) return;
    grpc::ClientContext update_context;
    pb::Config updated;
    if (random() % 8 == 0 && config.generation() > 1) {
      pb::RollbackConfigRequest request;
      request.set_generation(config.generation() - 1);
      request.set_etag(config.etag());
      if (control_->RollbackConfig(&update_context, request, &updated).ok()) ++config_changes_;
    } else {
      if (config.pools_size() > 1) {
        config.mutable_pools()->RemoveLast();
      } else {
        *config.add_pools() = config.pools(0);
        config.mutable_pools(1)->set_id(absl::StrCat("extra-", random() % 1000));
      }
      pb::UpdateConfigRequest request;
      *request.mutable_config() = config;
      if (control_->UpdateConfig(&update_context, request, &updated).ok()) ++config_changes_;
    }
    Pause(milliseconds(random() % 30));
  }

  void DrainAndResume(std::mt19937_64& random) {
    const std::string name =
        random() % 2 == 0 ? "pools/chat/endpoints/a" : "pools/chat/endpoints/b";
    {
      grpc::ClientContext context;
      pb::DrainEndpointRequest request;
      request.set_name(name);
      const auto progress = control_->DrainEndpoint(&context, request);
      pb::DrainProgress told;
      progress->Read(&told);
      context.TryCancel();
      progress->Finish();
    }
    Pause(milliseconds(random() % 50));
    grpc::ClientContext context;
    pb::ResumeEndpointRequest request;
    request.set_name(name);
    pb::EndpointStatus status;
    if (control_->ResumeEndpoint(&context, request, &status).ok()) ++drains_;
    Pause(milliseconds(random() % 200));
  }

  /// A watcher that reads for a moment, or not at all, and goes.
  void WatchForAMoment(std::mt19937_64& random) {
    grpc::ClientContext context;
    const auto events = observer_->WatchEvents(&context, pb::WatchEventsRequest());
    pb::WatchEventsResponse response;
    const uint64_t responses = random() % 20;
    for (uint64_t i = 0; i < responses && !over_; ++i) {
      if (!events->Read(&response)) break;
    }
    if (responses == 0) Pause(milliseconds(200));
    context.TryCancel();
    events->Finish();
    ++watches_;
  }

  /// One that hears all, and sums up.
  void Follow() {
    pb::WatchEventsRequest request;
    request.set_follow(true);
    const auto events = observer_->WatchEvents(&follow_, request);
    pb::WatchEventsResponse response;
    while (events->Read(&response)) {
      following_ = true;
      if (response.has_lost()) lost_ += response.lost().count();
      for (const pb::Event& event : response.events()) {
        if (!event.has_exchange_finished()) continue;
        ++finished_;
        tokens_ += event.exchange_finished().usage().total_tokens();
      }
    }
    events->Finish();
  }

  pb::CheckLeaksResponse Books() {
    grpc::ClientContext context;
    pb::CheckLeaksResponse books;
    EXPECT_TRUE(observer_->CheckLeaks(&context, {}, &books).ok());
    return books;
  }

  static bool Balanced(const pb::CheckLeaksResponse& books) {
    bool balanced = books.live() == 0;
    for (const auto& reading : books.readings()) balanced &= reading.booked() == reading.counted();
    return balanced;
  }

  pb::UsageTotal UsageTotals() {
    grpc::ClientContext context;
    pb::GetUsageResponse usage;
    EXPECT_TRUE(observer_->GetUsage(&context, {}, &usage).ok());
    return usage.totals_size() > 0 ? usage.totals(0) : pb::UsageTotal();
  }

  const uint64_t seed_ = FromEnvironment("SLUICE_SOAK_SEED", std::random_device()());
  const uint64_t seconds_ = FromEnvironment("SLUICE_SOAK_SECONDS", 8);
  std::unique_ptr<ScriptedEngine> first_ = StartChaosEngine(seed_);
  std::unique_ptr<ScriptedEngine> second_ = StartChaosEngine(seed_ + 1);
  const TempFile config_{Config(first_->uri(), second_->uri())};
  Daemon daemon_{{absl::StrCat("--config=", config_.path())}};
  const uint16_t port_ = daemon_.port();
  const std::shared_ptr<grpc::Channel> channel_ = grpc::CreateChannel(
      absl::StrCat("127.0.0.1:", daemon_.control_port()), grpc::InsecureChannelCredentials());
  const std::unique_ptr<pb::ObserverService::Stub> observer_ =
      pb::ObserverService::NewStub(channel_);
  const std::unique_ptr<pb::ControlService::Stub> control_ = pb::ControlService::NewStub(channel_);

  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
  std::atomic<uint64_t> last_stream_{0};
  std::atomic<uint64_t> config_changes_{0};
  std::atomic<uint64_t> drains_{0};
  std::atomic<uint64_t> watches_{0};
  grpc::ClientContext follow_;
  std::thread follower_;
  std::atomic<bool> following_{false};
  std::atomic<int64_t> finished_{0};
  std::atomic<int64_t> tokens_{0};
  std::atomic<int64_t> lost_{0};
  std::mutex mutex_;
  std::vector<std::string> faults_;
  std::map<std::string, uint64_t> ends_;
};

TEST_F(SoakTest, KeepsItsPromisesOnABadDay) {
  std::cout << "seed " << seed_ << ", " << seconds_ << " s" << std::endl;
  follower_ = std::thread([this] { Follow(); });
  ASSERT_TRUE(Eventually([this] { return following_.load(); }));
  for (int i = 0; i < kClients; ++i) Serve(i);
  Meanwhile([this](std::mt19937_64& random) { ChangeConfig(random); });
  Meanwhile([this](std::mt19937_64& random) { DrainAndResume(random); });
  Meanwhile([this](std::mt19937_64& random) { WatchForAMoment(random); });
  Meanwhile([this](std::mt19937_64& random) {
    Pause(milliseconds(500 + random() % 2000));
    (random() % 2 == 0 ? first_ : second_)->ResetConnections();
  });
  std::this_thread::sleep_for(std::chrono::seconds(seconds_));
  StopAll();

  EXPECT_THAT(faults_, ::testing::IsEmpty());
  EXPECT_TRUE(Eventually([this] { return Balanced(Books()); })) << Books().DebugString();
  const pb::UsageTotal totals = UsageTotals();
  EXPECT_TRUE(Eventually([&] { return finished_ + lost_ >= totals.exchanges(); }));
  if (lost_ == 0) {
    EXPECT_EQ(finished_, totals.exchanges());
    EXPECT_EQ(tokens_, totals.total_tokens());
  }
  EXPECT_GE(totals.exchanges(), static_cast<int64_t>(ends_["whole"] + ends_["error event"]));
  EXPECT_GT(ends_["whole"], 0u);
  EXPECT_GT(ends_["error event"], 0u);
  EXPECT_GT(config_changes_, 0u);
  EXPECT_GT(drains_, 0u);

  for (const auto& [end, count] : ends_) std::cout << end << ": " << count << "\n";
  std::cout << "exchanges: " << totals.exchanges() << ", tokens: " << totals.total_tokens()
            << ", config changes: " << config_changes_ << ", drains: " << drains_
            << ", watchers: " << watches_ << ", events lost by the follower: " << lost_
            << std::endl;
  daemon_.child().Signal(SIGTERM);
  EXPECT_EQ(daemon_.child().WaitForExit(), 0);
  EXPECT_THAT(daemon_.child().err(), ::testing::Not(::testing::HasSubstr("Sanitizer")));
}

}  // namespace
}  // namespace sluice::testing
