// Requests made to be read in two ways, by the hundred: each is refused, or leaves in one form.

#include "tests/integration/hostile_requests.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

#include "lib/base/mutex.h"
#include "tests/integration/gateway_fixture.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A nightly run asks for more than each commit's, by SLUICE_HOSTILE_REQUESTS.
size_t RequestCount() {
  size_t count = 1000;
  if (const char* more = std::getenv("SLUICE_HOSTILE_REQUESTS")) {
    EXPECT_TRUE(absl::SimpleAtoi(more, &count)) << more;
  }
  return count;
}

class HostileRequestsTest : public GatewayFixture {
 protected:
  HostileRequestsTest() {
    ScriptedEngine::Options options;
    options.keep_requests = false;
    engine_ = StartEngine(options);
    engine_->SetResponder([this](const EngineRequest& request) {
      MutexLock lock(&mutex_);
      seen_.push_back(request.head + request.body);
      return Script().Json("{}");
    });
    StartGateway(ConfigFor(engine_->uri()), 1);
  }

  /// What the upstream got since the last call.
  std::vector<std::string> TakeSeen() {
    MutexLock lock(&mutex_);
    return std::exchange(seen_, {});
  }

  void ExpectRefused(const HostileRequest& request) {
    RawClient client = Connect();
    client.Send(request.bytes).IgnoreError();  // it may be refused before all is sent
    const RawResponse response = client.ReadResponse().value_or(RawResponse());
    EXPECT_EQ(response.status, request.status);
    EXPECT_TRUE(response.complete());
    EXPECT_THAT(response.HeaderValues("Connection"), ElementsAre("close"));
    EXPECT_TRUE(client.ReadToEnd().ok());
    EXPECT_EQ(client.unread(), "") << "a second answer";
    EXPECT_THAT(TakeSeen(), IsEmpty());
  }

  void ExpectPassed(const HostileRequest& request) {
    RawClient client = Connect();
    ASSERT_TRUE(client.Send(request.bytes).ok());
    const RawResponse response = client.ReadResponse().value_or(RawResponse());
    EXPECT_EQ(response.status, 200) << response.body;
    client.HalfClose();
    EXPECT_TRUE(client.ReadToEnd().ok());
    EXPECT_EQ(client.unread(), "") << "a second answer";
    EXPECT_THAT(TakeSeen(), ElementsAre(request.upstream));
    passed_bytes_ += request.upstream.size();
  }

  size_t passed_bytes_ = 0;

 private:
  Mutex mutex_;
  std::vector<std::string> seen_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(HostileRequestsTest, AreRefusedOrLeaveInOneForm) {
  const size_t count = RequestCount();
  for (const HostileRequest& request :
       HostileRequests(count, absl::StrCat("127.0.0.1:", engine_->port()))) {
    request.status != 0 ? ExpectRefused(request) : ExpectPassed(request);
    ASSERT_FALSE(HasFailure()) << request.family << ": \"" << absl::CHexEscape(request.bytes)
                               << "\"";
  }
  EXPECT_EQ(engine_->counts().bytes_received, passed_bytes_) << "bytes that are no request";
}

class OwnAnswersTest : public GatewayFixture {
 protected:
  /// The answer to `request`, behind which its connection ends although more was asked.
  RawResponse AskForMore(const std::string& request) {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(absl::StrCat(request, kSmuggled)).ok());
    const RawResponse response = client.ReadResponse().value_or(RawResponse());
    EXPECT_THAT(response.HeaderValues("Connection"), ElementsAre("close"));
    EXPECT_TRUE(client.ReadToEnd().ok());
    EXPECT_EQ(client.unread(), "");
    return response;
  }
};

TEST_F(OwnAnswersTest, AreTheLastOfTheirConnections) {
  engine_ = StartEngine();
  engine_->AnswerAll(Script().Fin());
  const RefusingPort refusing;
  config::Config config = ConfigFor(engine_->uri());
  config.pools.push_back(config.pools[0]);
  config.pools[1].id = "gone";
  config.pools[1].endpoints[0].uri = refusing.uri();
  config.routes = {{"m1", "chat"}, {"m2", "chat"}, {"gone", "gone"}, {"once", "gone"}};
  config.principals.push_back({.id = "*", .models = {"m1", "gone", "once"}});
  config.principals[0].rates.push_back({.model = "once", .requests_per_minute = 1});
  StartGateway(config, 1);
  const auto ask = [&](absl::string_view model) {
    return AskForMore(
        PostRequest("/v1/chat/completions", absl::StrCat(R"({"model":")", model, "\"}")));
  };
  EXPECT_EQ(ask("m1").status, 502);
  EXPECT_EQ(ask("gone").status, 503);
  EXPECT_EQ(ask("m2").status, 403);
  EXPECT_EQ(ask("unknown").status, 404);
  EXPECT_EQ(ask("once").status, 503);
  EXPECT_EQ(ask("once").status, 429);
  EXPECT_EQ(engine_->counts().requests, 1u);
}

}  // namespace
}  // namespace sluice::testing
