#ifndef SLUICE_TESTS_INTEGRATION_GATEWAY_FIXTURE_H_
#define SLUICE_TESTS_INTEGRATION_GATEWAY_FIXTURE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "lib/config/config.h"
#include "server/gateway.h"
#include "tests/integration/finished_exchanges.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {

/// The gateway whole, in this process, in front of scripted engines, on ports of the system's
/// choice.
class GatewayFixture : public ::testing::Test {
 protected:
  /// One pool "chat" with one endpoint at `uri`, for any model.
  static config::Config ConfigFor(const std::string& uri) {
    config::Config config;
    config::Pool pool;
    pool.id = "chat";
    pool.endpoints.push_back({"a", uri});
    config.pools.push_back(pool);
    config.routes.push_back({"*", "chat"});
    return config;
  }

  static std::unique_ptr<ScriptedEngine> StartEngine(ScriptedEngine::Options options = {}) {
    absl::StatusOr<std::unique_ptr<ScriptedEngine>> engine =
        ScriptedEngine::Start(std::move(options));
    EXPECT_TRUE(engine.ok()) << engine.status();
    return *std::move(engine);
  }

  void StartGateway(std::optional<config::Config> config, int loops = 2) {
    server::GatewayOptions options;
    options.listen = options.control = options.admin = "127.0.0.1:0";
    options.loops = loops;
    options.config = std::move(config);
    options.client_reads = client_reads_;
    options.client_keys = client_keys_;
    options.ledger = ledger_;
    options.observer = &finished_;
    absl::StatusOr<std::unique_ptr<server::Gateway>> started = server::Gateway::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    gateway_ = *std::move(started);
  }

  /// One engine, and the gateway in front of it.
  void StartBoth() {
    engine_ = StartEngine();
    StartGateway(ConfigFor(engine_->uri()));
  }

  RawClient Connect() {
    absl::StatusOr<RawClient> client = RawClient::Connect(static_cast<uint16_t>(gateway_->port()));
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  /// Sends one request on a connection of its own and reads the answer.
  RawResponse Exchange(const std::string& request) {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(request).ok());
    absl::StatusOr<RawResponse> response = client.ReadResponse(request.starts_with("HEAD "));
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *std::move(response) : RawResponse();
  }

  http::ReadLimits client_reads_;
  // Of the next start; "": none.
  std::string client_keys_;
  std::string ledger_;
  FinishedExchanges finished_;
  std::unique_ptr<ScriptedEngine> engine_;
  std::unique_ptr<server::Gateway> gateway_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_GATEWAY_FIXTURE_H_
