// The end of the control server while calls are open.

#include <memory>

#include "tests/server/watch_fixture.h"
#include "tests/support/patience.h"

namespace sluice::server {
namespace {

class ControlShutdownTest : public WatchTest {
 protected:
  ControlShutdownTest() {
    auto info = std::make_shared<ExchangeInfo>();
    info->id = {1};
    record_->subject = std::make_shared<const Subject>(Subject{.exchange = std::move(info)});
    registry_.Enter(record_, cancellation_);
  }
  ~ControlShutdownTest() override {
    record_->cause = Cause::kCompleted;
    registry_.OnFinished(*record_);
    server_ = nullptr;
  }

  Cancellation cancellation_;
  const std::shared_ptr<Exchange> record_ = std::make_shared<Exchange>();
};

/// Reads to the end of the call.
template <typename Response>
grpc::StatusCode EndOf(grpc::ClientReader<Response>& reader) {
  Response response;
  while (reader.Read(&response)) continue;
  return reader.Finish().error_code();
}

// After the grace what is left would end with CANCELLED.
TEST_F(ControlShutdownTest, EndsEveryOpenStreamWithUnavailableBeforeTheGraceIsOver) {
  Start();
  const auto watch = Follow();
  ASSERT_TRUE(watch->Read());

  grpc::ClientContext tail_context;
  pb::TailExchangeRequest tail_request;
  tail_request.set_id(ToString(ExchangeId{1}));
  const auto tail = observer_->TailExchange(&tail_context, tail_request);
  pb::TailExchangeResponse tailed;
  ASSERT_TRUE(tail->Read(&tailed));

  grpc::ClientContext drain_context;
  const auto drain = control_->DrainServer(&drain_context, {});
  pb::DrainProgress progress;
  ASSERT_TRUE(drain->Read(&progress));

  server_->Shutdown(testing::kPatience);
  EXPECT_FALSE(watch->Read());
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(EndOf(*tail), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(EndOf(*drain), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ControlShutdownTest, RefusesNewCalls) {
  Start();
  server_->Shutdown(std::chrono::seconds(1));
  grpc::ClientContext context;
  pb::ServerStatus status;
  EXPECT_EQ(observer_->GetServerStatus(&context, {}, &status).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace sluice::server
