#include <string>
#include <vector>

#include "gmock/gmock.h"

#include "tests/server/config_rpc_fixture.h"
#include "tests/support/scoped_env.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ConfigRpcTest, RefusesAKeyThatCannotBeRead) {
  for (const bool validate_only : {true, false}) {
    pb::UpdateConfigRequest request = RequestFor("chat");
    request.set_validate_only(validate_only);
    pb::Key* key = request.mutable_config()->mutable_pools(0)->add_keys();
    key->set_id("k1");
    key->set_file("/nowhere/at/all");
    const grpc::Status status = Update(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(PathsOf(status), ElementsAre("pools[0].keys[0].file"));
  }
}

TEST_F(ConfigRpcTest, ShowsWhereAKeyIsAndNeverItsValue) {
  const testing::ScopedEnv env("SLUICE_TEST_RPC_KEY", "sk-secret");
  pb::UpdateConfigRequest request = RequestFor("chat");
  pb::Key* key = request.mutable_config()->mutable_pools(0)->add_keys();
  key->set_id("k1");
  key->set_env("SLUICE_TEST_RPC_KEY");
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(GetConfig().pools(0).keys(0).env(), "SLUICE_TEST_RPC_KEY");
  EXPECT_THAT(GetConfig().ShortDebugString(), ::testing::Not(HasSubstr("sk-secret")));
}

TEST_F(ConfigRpcTest, SwapsTheSnapshotUnderTheEtagThatWasRead) {
  const auto before = store_.Current();
  const grpc::Status status = Update(RequestFor("chat"));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(store_.Current()->routes().Find("m", {})->pool, "chat");
  EXPECT_EQ(before->routes().Find("m", {}), nullptr);
  EXPECT_EQ(updated_.etag(), store_.Current()->etag());
  EXPECT_EQ(updated_.generation(), 1);
  EXPECT_EQ(updated_.SerializeAsString(), GetConfig().SerializeAsString());
}

TEST_F(ConfigRpcTest, RequiresAnEtag) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  request.mutable_config()->clear_etag();
  const grpc::Status status = Update(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("GetConfig first"));
  EXPECT_EQ(DetailOf(status).reason(), "ETAG_MISSING");
}

TEST_F(ConfigRpcTest, AbortsOnAnOldEtagAndTellsTheCurrentOne) {
  const pb::UpdateConfigRequest late = RequestFor("late");
  ASSERT_TRUE(Update(RequestFor("chat")).ok());
  const grpc::Status status = Update(late);
  const std::string current = store_.Current()->etag();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(status.error_message(), HasSubstr(current));
  EXPECT_EQ(DetailOf(status).reason(), "ETAG_MISMATCH");
  EXPECT_EQ(DetailOf(status).metadata().at("current_etag"), current);
  EXPECT_EQ(store_.Current()->routes().Find("m", {})->pool, "chat");
}

TEST_F(ConfigRpcTest, AbortsOnAnOldEtagWhateverElseIsWrong) {
  pb::UpdateConfigRequest late = RequestFor("late");
  ASSERT_TRUE(Update(RequestFor("chat")).ok());
  late.set_validate_only(true);
  EXPECT_EQ(Update(late).error_code(), grpc::StatusCode::ABORTED);
  late.mutable_config()->mutable_routes(0)->set_pool("other");
  EXPECT_EQ(Update(late).error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(ConfigRpcTest, ListsAllViolationsAndChangesNothing) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  pb::Pool* pool = request.mutable_config()->mutable_pools(0);
  pool->mutable_endpoints(0)->set_uri("nowhere");
  pool->set_relay_mode(static_cast<pb::RelayMode>(9));
  request.mutable_config()->mutable_routes(0)->set_pool("other");
  request.mutable_config()->set_name("other");
  const grpc::Status status = Update(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(status).reason(), "CONFIG_INVALID");
  EXPECT_THAT(PathsOf(status), ElementsAre("pools[0].relay_mode", "name",
                                           "pools[0].endpoints[0].uri", "routes[0].pool"));
  EXPECT_EQ(store_.Current()->generation(), 0u);
}

TEST_F(ConfigRpcTest, CutsAListOfViolationsThatNoTrailerHolds) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  for (int i = 0; i < 2000; ++i) request.mutable_config()->add_pools()->set_id("NO ID");
  request.mutable_config()->mutable_routes(0)->set_pool(std::string(100'000, 'x'));
  const grpc::Status status = Update(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_EQ(DetailOf(status).metadata().at("violations"), "2001");
  EXPECT_GT(DetailOf(status).violations_size(), 10);
}

TEST_F(ConfigRpcTest, ReplacesOnlyTheFieldsThatArePopulated) {
  ASSERT_TRUE(Update(RequestFor("chat")).ok());
  pb::UpdateConfigRequest request;
  request.mutable_config()->set_etag(GetConfig().etag());
  request.mutable_config()->mutable_limits()->set_max_in_flight(5);
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(updated_.limits().max_in_flight(), 5);
  EXPECT_EQ(updated_.pools_size(), 1);
  EXPECT_EQ(updated_.routes_size(), 1);
}

TEST_F(ConfigRpcTest, ReplacesTheFieldsThatTheMaskNames) {
  ASSERT_TRUE(Update(RequestFor("chat")).ok());
  pb::UpdateConfigRequest request;
  request.mutable_config()->set_etag(GetConfig().etag());
  request.mutable_config()->mutable_limits()->set_max_in_flight(5);
  request.mutable_update_mask()->add_paths("routes");
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(updated_.routes_size(), 0);
  EXPECT_EQ(updated_.pools_size(), 1);
  EXPECT_EQ(updated_.limits().max_in_flight(), 10000);

  request.mutable_config()->set_etag(updated_.etag());
  request.mutable_update_mask()->set_paths(0, "*");
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(updated_.pools_size(), 0);
  EXPECT_EQ(updated_.limits().max_in_flight(), 5);
}

TEST_F(ConfigRpcTest, RefusesAMaskPathThatIsNoTopLevelField) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  request.mutable_update_mask()->add_paths("pools");
  request.mutable_update_mask()->add_paths("limits.max_in_flight");
  const grpc::Status status = Update(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(status).reason(), "FIELD_MASK_INVALID");
  EXPECT_THAT(PathsOf(status), ElementsAre("update_mask.paths[1]"));
}

TEST_F(ConfigRpcTest, ChangesNothingWhenOnlyValidating) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  request.set_validate_only(true);
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(updated_.pools(0).id(), "chat");
  EXPECT_EQ(updated_.etag(), "");
  EXPECT_EQ(store_.Current()->generation(), 0u);
  request.mutable_config()->mutable_routes(0)->set_pool("other");
  EXPECT_EQ(Update(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ConfigRpcTest, TakesAConfigOver4MiB) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  for (int i = 0; i < 25'000; ++i) {
    pb::Route* route = request.mutable_config()->add_routes();
    route->set_model(absl::StrCat(i, std::string(200, 'm')));
    route->set_pool("chat");
  }
  ASSERT_GT(request.ByteSizeLong(), size_t{5} << 20);
  const grpc::Status status = Update(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(GetConfig().routes_size(), 25'001);
}

TEST_F(ConfigRpcTest, PublishesEachChange) {
  ASSERT_TRUE(Update(RequestFor("chat")).ok());
  const std::vector<events::Event> events = events::Reader(*hub_, 0).Read().events;
  ASSERT_EQ(events.size(), 1u);
  ASSERT_EQ(events[0].kind(), events::Kind::kConfigChanged);
  EXPECT_EQ(std::get<std::shared_ptr<const events::ConfigChanged>>(events[0].what)->etag,
            updated_.etag());
}

}  // namespace
}  // namespace sluice::server
