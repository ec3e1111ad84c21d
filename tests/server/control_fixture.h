#ifndef SLUICE_TESTS_SERVER_CONTROL_FIXTURE_H_
#define SLUICE_TESTS_SERVER_CONTROL_FIXTURE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "lib/base/clock.h"
#include "lib/base/random.h"
#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "server/control_server.h"
#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/support/eventually.h"

namespace sluice::server {

namespace pb = ::sluice::control::v1;
using ::sluice::testing::Eventually;

/// A control server on a port of its own and a real channel to it.
class ControlServerTest : public ::testing::Test {
 protected:
  class FixedStatus final : public DataPlane {
   public:
    int64_t in_flight() const override { return 3; }
    int64_t accepted() const override { return 10; }
    bool draining() const override { return drained; }
    std::map<uint64_t, int64_t, std::greater<>> in_flight_by_generation() const override {
      return {{7, 1}, {1, 2}};
    }
    Resources resources() const override { return {}; }
    void Drain() override { drained = true; }
    int64_t undrained() const override { return in_flight(); }
    std::atomic<bool> drained{false};
  };

  ControlServer::Deps deps() {
    return {clock_, store_, *hub_, registry_, endpoints_, {gate_, keys_, retry_budgets_},
            usage_, status_};
  }

  /// `options.address` is replaced by a free port unless it names a Unix socket.
  void Start(ControlServer::Options options = {}, size_t ring_capacity = 65536) {
    hub_ = std::make_unique<events::Hub>(events::Hub::Options{ring_capacity});
    if (options.address.rfind("unix:", 0) != 0) options.address = "127.0.0.1:0";
    auto server = ControlServer::Start(options, deps());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(options.address == "127.0.0.1:0"
                                             ? absl::StrCat("127.0.0.1:", server_->port())
                                             : options.address,
                                         grpc::InsecureChannelCredentials(), arguments);
    control_ = pb::ControlService::NewStub(channel_);
    observer_ = pb::ObserverService::NewStub(channel_);
  }

  pb::Config GetConfig() {
    grpc::ClientContext context;
    pb::Config config;
    const grpc::Status status = control_->GetConfig(&context, {}, &config);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return config;
  }

  pb::ServerStatus GetServerStatus() {
    grpc::ClientContext context;
    pb::ServerStatus server_status;
    const grpc::Status status = observer_->GetServerStatus(&context, {}, &server_status);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return server_status;
  }

  /// Publishes chunks that carry `count` numbers, from the one after the last.
  void Publish(int count) {
    for (int i = 0; i < count; ++i) {
      events::Event event;
      event.what = events::Chunk{.index = next_number_++};
      hub_->Publish(std::move(event));
    }
  }

  SystemClock clock_;
  FixedStatus status_;
  std::unique_ptr<events::Hub> hub_;
  config::Store store_{clock_};
  ExchangeRegistry registry_;
  SystemRandom random_;
  upstream::EndpointTable endpoints_{clock_, random_};
  admission::Gate gate_{clock_};
  SystemRandom key_random_;
  upstream::KeyRing keys_{clock_, key_random_};
  upstream::RetryBudgets retry_budgets_;
  ledger::UsageTotals usage_;
  std::unique_ptr<ControlServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::ControlService::Stub> control_;
  std::unique_ptr<pb::ObserverService::Stub> observer_;
  uint64_t next_number_ = 0;
};

}  // namespace sluice::server

#endif  // SLUICE_TESTS_SERVER_CONTROL_FIXTURE_H_
