// GetUsage, over a real channel.

#include <string>

#include "gmock/gmock.h"

#include "tests/ledger/finished_exchange.h"
#include "tests/server/control_fixture.h"

namespace sluice::server {
namespace {

using testing::FinishedExchange;
using ::testing::HasSubstr;

class UsageRpcTest : public ControlServerTest {
 protected:
  grpc::Status GetUsage(const pb::GetUsageRequest& request) {
    grpc::ClientContext context;
    return observer_->GetUsage(&context, request, &usage_response_);
  }
  pb::GetUsageResponse usage_response_;
};

TEST_F(UsageRpcTest, SumsUpWhatFinished) {
  Start();
  Usage tokens;
  tokens.total_tokens = 5;
  usage_.OnFinished(*FinishedExchange({.model = "few"}));
  usage_.OnFinished(*FinishedExchange({.model = "m\xFF", .usage = tokens}));
  pb::GetUsageRequest request;
  request.add_group_by(pb::GetUsageRequest::DIMENSION_MODEL);
  ASSERT_TRUE(GetUsage(request).ok());
  ASSERT_EQ(usage_response_.totals_size(), 2);
  EXPECT_EQ(usage_response_.totals(0).model(), "m\xEF\xBF\xBD") << "the one with the most first";
  EXPECT_EQ(usage_response_.totals(0).total_tokens(), 5);
  EXPECT_EQ(usage_response_.totals(0).pool(), "");
  EXPECT_EQ(usage_response_.totals(1).model(), "few");
  EXPECT_GT(usage_response_.start_time().seconds(), 0);
  EXPECT_EQ(usage_response_.folded(), 0);
}

TEST_F(UsageRpcTest, TellsHowManyHaveNoNameOfTheirOwn) {
  Start();
  usage_.OnFinished(*FinishedExchange({.model = std::string(1000, 'x')}));
  ASSERT_TRUE(GetUsage({}).ok());
  EXPECT_EQ(usage_response_.folded(), 1);
}

TEST_F(UsageRpcTest, RefusesADimensionThatThereIsNot) {
  Start();
  for (const int dimension : {0, 5, -1}) {
    pb::GetUsageRequest request;
    request.add_group_by(static_cast<pb::GetUsageRequest::Dimension>(dimension));
    const grpc::Status status = GetUsage(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("group_by"));
  }
}

}  // namespace
}  // namespace sluice::server
