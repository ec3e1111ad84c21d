#ifndef SLUICE_TESTS_SERVER_CONFIG_RPC_FIXTURE_H_
#define SLUICE_TESTS_SERVER_CONFIG_RPC_FIXTURE_H_

#include <string>
#include <vector>

#include "sluice/control/v1/error.pb.h"
#include "tests/server/control_fixture.h"

namespace sluice::server {

/// A control server, and what the tests of calls about its configuration have in common.
class ConfigRpcTest : public ControlServerTest {
 protected:
  void SetUp() override { Start(); }

  /// A request for one pool and the route to it, made from the current version.
  pb::UpdateConfigRequest RequestFor(const std::string& pool) {
    pb::UpdateConfigRequest request;
    request.mutable_config()->set_etag(GetConfig().etag());
    pb::Pool* added = request.mutable_config()->add_pools();
    added->set_id(pool);
    pb::Endpoint* endpoint = added->add_endpoints();
    endpoint->set_id("a");
    endpoint->set_uri("http://127.0.0.1:9000");
    pb::Route* route = request.mutable_config()->add_routes();
    route->set_model("*");
    route->set_pool(pool);
    return request;
  }

  grpc::Status Update(const pb::UpdateConfigRequest& request) {
    grpc::ClientContext context;
    return control_->UpdateConfig(&context, request, &updated_);
  }

  static pb::ErrorDetail DetailOf(const grpc::Status& status) {
    pb::StatusDetails details;
    EXPECT_TRUE(details.ParseFromString(status.error_details()));
    EXPECT_EQ(details.code(), status.error_code());
    pb::ErrorDetail detail;
    EXPECT_TRUE(details.details_size() == 1 && details.details(0).UnpackTo(&detail));
    return detail;
  }

  static std::vector<std::string> PathsOf(const grpc::Status& status) {
    std::vector<std::string> paths;
    const pb::ErrorDetail detail = DetailOf(status);
    for (const pb::Violation& violation : detail.violations())
      paths.push_back(violation.field_path());
    return paths;
  }

  pb::Config updated_;
};

}  // namespace sluice::server

#endif  // SLUICE_TESTS_SERVER_CONFIG_RPC_FIXTURE_H_
