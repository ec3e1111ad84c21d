// What the audit log says of operators who steer, over a real channel.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"

#include "lib/base/log.h"
#include "lib/base/mutex.h"
#include "tests/integration/steer_fixture.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SteerAuditTest : public SteerTest {
 protected:
  SteerAuditTest() {
    SetLogSink([this](absl::string_view line) {
      MutexLock lock(&mutex_);
      if (absl::StrContains(line, " audit who=")) lines_.emplace_back(line);
    });
  }
  ~SteerAuditTest() override {
    gateway_ = nullptr;
    SetLogSink({});
  }

  std::vector<std::string> lines() {
    MutexLock lock(&mutex_);
    return lines_;
  }

  pb::DrainProgress Drain(grpc::ClientContext& context, const std::string& name, bool cancel,
                          int seconds, grpc::Status* status) {
    pb::DrainEndpointRequest request;
    request.set_name(name);
    request.set_cancel(cancel);
    request.mutable_timeout()->set_seconds(seconds);
    const auto drain = control_->DrainEndpoint(&context, request);
    pb::DrainProgress progress;
    while (drain->Read(&progress)) {
    }
    *status = drain->Finish();
    return progress;
  }

  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(SteerAuditTest, TellsWhoAskedForWhatThereIsNot) {
  StartAll();
  EXPECT_EQ(Cancel("x0000000000000001").error_code(), grpc::StatusCode::NOT_FOUND);
  {
    grpc::ClientContext context;
    pb::TailExchangeRequest request;
    request.set_id("x0000000000000002");
    const auto tail = observer_->TailExchange(&context, request);
    EXPECT_EQ(tail->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  }
  {
    grpc::ClientContext context;
    grpc::Status status;
    Drain(context, "pools/chat/endpoints/zz", false, 1, &status);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  }
  {
    grpc::ClientContext context;
    pb::ResumeEndpointRequest request;
    request.set_name("pools/chat/endpoints/" + std::string(1'000'000, 'y'));
    pb::EndpointStatus resumed;
    EXPECT_EQ(control_->ResumeEndpoint(&context, request, &resumed).error_code(),
              grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_THAT(
      lines(),
      ElementsAre(
          HasSubstr("action=\"cancel exchange\" exchange=x0000000000000001 outcome=NOT_FOUND"),
          HasSubstr("action=\"tail exchange\" exchange=x0000000000000002 outcome=NOT_FOUND"),
          HasSubstr("action=\"drain endpoint\" endpoint=pools/chat/endpoints/zz outcome=NOT_FOUND"),
          HasSubstr("action=\"resume endpoint\" endpoint=pools/chat/endpoints/yyyy")));
  EXPECT_LT(lines().back().size(), 1000u);
}

TEST_F(SteerAuditTest, TellsThatNobodyRemainsOfADrain) {
  StartAll();
  grpc::ClientContext context;
  grpc::Status status;
  EXPECT_TRUE(Drain(context, kEndpointA, false, 60, &status).done());
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("action=\"drain endpoint\""),
                                   HasSubstr("action=\"end of drain endpoint\" "
                                             "endpoint=pools/chat/endpoints/a outcome=OK "
                                             "remaining=0 cancelled=0")));
}

TEST_F(SteerAuditTest, TellsHowManyADrainCancelled) {
  StartAll();
  engine_->AnswerAll(OneEventThenGate());
  RawClient client = StreamingClient();
  WaitForRunning(pb::PHASE_RELAY);
  grpc::ClientContext context;
  grpc::Status status;
  EXPECT_EQ(Drain(context, kEndpointA, true, 0, &status).cancelled(), 1);
  EXPECT_THAT(lines().back(), HasSubstr("outcome=OK remaining=0 cancelled=1"));
}

TEST_F(SteerAuditTest, TellsWhoRemainsWhenTheTimeIsOver) {
  StartAll();
  engine_->AnswerAll(OneEventThenGate());
  RawClient client = StreamingClient();
  WaitForRunning(pb::PHASE_RELAY);
  grpc::ClientContext context;
  grpc::Status status;
  EXPECT_TRUE(Drain(context, kEndpointA, false, 0, &status).done());
  EXPECT_THAT(lines().back(), HasSubstr("outcome=DEADLINE_EXCEEDED remaining=1 cancelled=0"));
}

TEST_F(SteerAuditTest, TellsThatADrainWasTakenBackOrItsCallerLeft) {
  StartAll();
  engine_->AnswerAll(OneEventThenGate());
  RawClient client = StreamingClient();
  WaitForRunning(pb::PHASE_RELAY);
  pb::DrainServerRequest server;
  grpc::ClientContext leaves;
  const auto left = control_->DrainServer(&leaves, server);
  pb::DrainProgress progress;
  ASSERT_TRUE(left->Read(&progress));
  leaves.TryCancel();
  EXPECT_TRUE(Eventually([&] {
    return absl::StrContains(lines().back(),
                             "\"end of drain server\" outcome=CANCELLED remaining=1");
  })) << lines().back();

  pb::DrainEndpointRequest request;
  request.set_name(kEndpointA);
  grpc::ClientContext context;
  const auto drain = control_->DrainEndpoint(&context, request);
  ASSERT_TRUE(drain->Read(&progress));
  grpc::ClientContext resume_context;
  pb::ResumeEndpointRequest resume;
  resume.set_name(kEndpointA);
  pb::EndpointStatus resumed;
  ASSERT_TRUE(control_->ResumeEndpoint(&resume_context, resume, &resumed).ok());
  while (drain->Read(&progress)) {
  }
  EXPECT_EQ(drain->Finish().error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(lines().back(), HasSubstr("outcome=ABORTED remaining=1 cancelled=0"));
}

}  // namespace
}  // namespace sluice::testing
