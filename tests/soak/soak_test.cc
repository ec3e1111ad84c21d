// The real daemon on a bad day. See README.md.

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/daemon.h"
#include "tests/soak/bad_day.h"
#include "tests/soak/chaos_engine.h"
#include "tests/support/eventually.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;
using std::chrono::milliseconds;

constexpr int kClients = 24;

std::string Config(const std::string& first, const std::string& second) {
  return absl::StrCat(
      R"({"pools":[{"id":"chat","retry":{"max_attempts":3},"health":{"consecutive_failures":1000},)",
      R"("endpoints":[{"id":"a","uri":")", first, R"("},{"id":"b","uri":")", second,
      R"("}]}],"routes":[{"model":"*","pool":"chat"}]})");
}

class SoakTest : public ::testing::Test {
 protected:
  ~SoakTest() override {
    day_.End();
    follow_.TryCancel();
    if (follower_.joinable()) follower_.join();
  }

  /// A pool comes or goes, or an older configuration comes back.
  void ChangeConfig(BadDay::Random& random) {
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
    day_.Pause(milliseconds(random() % 30));
  }

  void DrainAndResume(BadDay::Random& random) {
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
    day_.Pause(milliseconds(random() % 50));
    grpc::ClientContext context;
    pb::ResumeEndpointRequest request;
    request.set_name(name);
    pb::EndpointStatus status;
    if (control_->ResumeEndpoint(&context, request, &status).ok()) ++drains_;
    day_.Pause(milliseconds(random() % 200));
  }

  /// A watcher that reads for a moment, or not at all, and goes.
  void WatchForAMoment(BadDay::Random& random) {
    grpc::ClientContext context;
    const auto events = observer_->WatchEvents(&context, pb::WatchEventsRequest());
    pb::WatchEventsResponse response;
    const uint64_t responses = random() % 20;
    for (uint64_t i = 0; i < responses && !day_.over(); ++i) {
      if (!events->Read(&response)) break;
    }
    if (responses == 0) day_.Pause(milliseconds(200));
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

  BadDay day_{8};
  std::unique_ptr<ScriptedEngine> first_ = StartChaosEngine(day_.seed());
  std::unique_ptr<ScriptedEngine> second_ = StartChaosEngine(day_.seed() + 1);
  const TempFile config_{Config(first_->uri(), second_->uri())};
  Daemon daemon_{{absl::StrCat("--config=", config_.path())}};
  const uint16_t port_ = daemon_.port();
  const std::shared_ptr<grpc::Channel> channel_ = grpc::CreateChannel(
      absl::StrCat("127.0.0.1:", daemon_.control_port()), grpc::InsecureChannelCredentials());
  const std::unique_ptr<pb::ObserverService::Stub> observer_ =
      pb::ObserverService::NewStub(channel_);
  const std::unique_ptr<pb::ControlService::Stub> control_ = pb::ControlService::NewStub(channel_);

  std::atomic<uint64_t> config_changes_{0};
  std::atomic<uint64_t> drains_{0};
  std::atomic<uint64_t> watches_{0};
  grpc::ClientContext follow_;
  std::thread follower_;
  std::atomic<bool> following_{false};
  std::atomic<int64_t> finished_{0};
  std::atomic<int64_t> tokens_{0};
  std::atomic<int64_t> lost_{0};
};

TEST_F(SoakTest, KeepsItsPromisesOnABadDay) {
  follower_ = std::thread([this] { Follow(); });
  ASSERT_TRUE(Eventually([this] { return following_.load(); }));
  day_.Serve(kClients, port_);
  day_.Meanwhile([this](BadDay::Random& random) { ChangeConfig(random); });
  day_.Meanwhile([this](BadDay::Random& random) { DrainAndResume(random); });
  day_.Meanwhile([this](BadDay::Random& random) { WatchForAMoment(random); });
  day_.Meanwhile([this](BadDay::Random& random) {
    day_.Pause(milliseconds(500 + random() % 2000));
    (random() % 2 == 0 ? first_ : second_)->ResetConnections();
  });
  day_.Pass();

  EXPECT_THAT(day_.faults(), ::testing::IsEmpty());
  EXPECT_TRUE(Eventually([this] { return Balanced(Books()); })) << Books().DebugString();
  const pb::UsageTotal totals = UsageTotals();
  EXPECT_TRUE(Eventually([&] { return finished_ + lost_ >= totals.exchanges(); }));
  if (lost_ == 0) {
    EXPECT_EQ(finished_, totals.exchanges());
    EXPECT_EQ(tokens_, totals.total_tokens());
  }
  EXPECT_GE(totals.exchanges(),
            static_cast<int64_t>(day_.ends()["whole"] + day_.ends()["error event"]));
  EXPECT_GT(day_.ends()["whole"], 0u);
  EXPECT_GT(day_.ends()["error event"], 0u);
  EXPECT_GT(config_changes_, 0u);
  EXPECT_GT(drains_, 0u);

  for (const auto& [end, count] : day_.ends()) std::cout << end << ": " << count << "\n";
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
