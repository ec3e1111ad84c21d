// Versions, plans, endpoints: the calls about the configuration beside GetConfig and UpdateConfig.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

#include "lib/base/log.h"
#include "server/state_dir.h"
#include "tests/server/config_rpc_fixture.h"
#include "tests/support/temp_dir.h"

namespace sluice::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConfigVersionRpcTest : public ConfigRpcTest {
 protected:
  /// Applies one pool as a new version.
  void Apply(const std::string& pool) {
    const grpc::Status status = Update(RequestFor(pool));
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  grpc::Status Get(int64_t generation, pb::Config* config) {
    pb::GetConfigRequest request;
    request.set_generation(generation);
    grpc::ClientContext context;
    return control_->GetConfig(&context, request, config);
  }

  std::vector<std::string> Validate(const pb::Config& config) {
    pb::ValidateConfigRequest request;
    *request.mutable_config() = config;
    grpc::ClientContext context;
    pb::ValidateConfigResponse response;
    const grpc::Status status = control_->ValidateConfig(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> paths;
    for (const auto& violation : response.violations()) paths.push_back(violation.field_path());
    return paths;
  }

  grpc::Status Plan(const pb::UpdateConfigRequest& update) {
    pb::PlanConfigRequest request;
    *request.mutable_config() = update.config();
    if (update.has_update_mask()) *request.mutable_update_mask() = update.update_mask();
    grpc::ClientContext context;
    return control_->PlanConfig(&context, request, &plan_);
  }

  std::vector<std::string> PlannedPaths() const {
    std::vector<std::string> paths;
    for (const auto& change : plan_.changes()) paths.push_back(change.path());
    return paths;
  }

  grpc::Status List(int page_size, const std::string& token = "") {
    pb::ListConfigVersionsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    grpc::ClientContext context;
    return control_->ListConfigVersions(&context, request, &list_);
  }

  std::vector<int64_t> ListedGenerations() const {
    std::vector<int64_t> generations;
    for (const auto& version : list_.versions()) generations.push_back(version.generation());
    return generations;
  }

  grpc::Status Rollback(int64_t generation, const std::string& etag) {
    pb::RollbackConfigRequest request;
    request.set_generation(generation);
    request.set_etag(etag);
    grpc::ClientContext context;
    return control_->RollbackConfig(&context, request, &updated_);
  }

  grpc::Status Add(const std::string& pool, const std::string& id, const std::string& uri,
                   const std::string& etag = "") {
    pb::AddEndpointRequest request;
    request.set_pool(pool);
    request.mutable_endpoint()->set_id(id);
    request.mutable_endpoint()->set_uri(uri);
    request.set_etag(etag);
    grpc::ClientContext context;
    return control_->AddEndpoint(&context, request, &updated_);
  }

  grpc::Status Change(const std::string& pool, const std::string& id, const std::string& uri) {
    pb::UpdateEndpointRequest request;
    request.set_pool(pool);
    request.mutable_endpoint()->set_id(id);
    request.mutable_endpoint()->set_uri(uri);
    grpc::ClientContext context;
    return control_->UpdateEndpoint(&context, request, &updated_);
  }

  grpc::Status Remove(const std::string& name, const std::string& etag = "") {
    pb::RemoveEndpointRequest request;
    request.set_name(name);
    request.set_etag(etag);
    grpc::ClientContext context;
    return control_->RemoveEndpoint(&context, request, &updated_);
  }

  pb::PlanConfigResponse plan_;
  pb::ListConfigVersionsResponse list_;
};

TEST_F(ConfigVersionRpcTest, GetsAnEarlierVersionByItsGeneration) {
  pb::Config config;
  ASSERT_TRUE(Get(0, &config).ok()) << "the one in force";
  EXPECT_EQ(config.pools_size(), 0);
  Apply("one");
  const std::string first = updated_.SerializeAsString();
  Apply("two");
  ASSERT_TRUE(Get(1, &config).ok());
  EXPECT_EQ(config.SerializeAsString(), first);
  ASSERT_TRUE(Get(2, &config).ok());
  EXPECT_EQ(config.SerializeAsString(), GetConfig().SerializeAsString());
  for (const int64_t unknown : {0, 3, -1}) {
    const grpc::Status status = Get(unknown, &config);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND) << unknown;
    EXPECT_EQ(DetailOf(status).reason(), "VERSION_NOT_FOUND");
    EXPECT_THAT(status.error_message(), HasSubstr("from 1 to 2"));
  }
}

TEST_F(ConfigVersionRpcTest, ListsAllThatIsWrongWithoutFailing) {
  pb::Config config = RequestFor("chat").config();
  EXPECT_THAT(Validate(config), IsEmpty());
  config.set_etag("of no account");
  config.mutable_pools(0)->set_relay_mode(static_cast<pb::RelayMode>(9));
  for (int i = 0; i < 1000; ++i) config.add_pools()->set_id("NO ID");
  const std::vector<std::string> paths = Validate(config);
  EXPECT_EQ(paths.size(), 1001u) << "no trailer bounds them";
  EXPECT_THAT(paths, AllOf(Contains("pools[0].relay_mode"), Contains("pools[1000].id")));
  EXPECT_EQ(store_.Current()->generation(), 0u);
}

TEST_F(ConfigVersionRpcTest, ValidatesTheKeysToo) {
  pb::Config config = RequestFor("chat").config();
  config.mutable_pools(0)->add_keys()->set_id("k1");
  config.mutable_pools(0)->mutable_keys(0)->set_file("/nowhere/at/all");
  EXPECT_THAT(Validate(config), ElementsAre("pools[0].keys[0].file"));
}

TEST_F(ConfigVersionRpcTest, PlansWhatAnUpdateWouldChange) {
  Apply("chat");
  pb::UpdateConfigRequest request;
  *request.mutable_config() = updated_;
  request.mutable_config()->mutable_pools(0)->mutable_retry()->set_max_attempts(7);
  request.mutable_config()->mutable_limits()->set_max_in_flight(5);
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_EQ(plan_.etag(), updated_.etag());
  EXPECT_EQ(plan_.generation(), 1);
  EXPECT_THAT(PlannedPaths(), ElementsAre("pools/chat.retry.max_attempts", "limits.max_in_flight"));
  EXPECT_EQ(plan_.changes(0).before(), "3");
  EXPECT_EQ(plan_.changes(0).after(), "7");
  ASSERT_EQ(plan_.holders_size(), 2);
  EXPECT_EQ(plan_.holders(0).generation(), 7);
  EXPECT_EQ(plan_.holders(1).generation(), 1);
  EXPECT_EQ(plan_.holders(1).exchanges(), 2);

  request.mutable_update_mask()->add_paths("limits");
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_THAT(PlannedPaths(), ElementsAre("limits.max_in_flight"));
  EXPECT_EQ(store_.Current()->generation(), 1u);
}

TEST_F(ConfigVersionRpcTest, PlansNothingThatIsNotValid) {
  pb::UpdateConfigRequest request = RequestFor("NO ID");
  EXPECT_THAT(PathsOf(Plan(request)), Contains("pools[0].id"));
  request.mutable_update_mask()->add_paths("nothing");
  EXPECT_EQ(DetailOf(Plan(request)).reason(), "FIELD_MASK_INVALID");
}

TEST_F(ConfigVersionRpcTest, ListsVersionsInPagesTheLatestFirst) {
  ASSERT_TRUE(List(0).ok());
  EXPECT_THAT(ListedGenerations(), IsEmpty());
  for (const char* pool : {"one", "two", "three"}) Apply(pool);
  ASSERT_TRUE(List(0).ok());
  EXPECT_THAT(ListedGenerations(), ElementsAre(3, 2, 1));
  EXPECT_EQ(list_.next_page_token(), "");
  const pb::ConfigVersion& first = list_.versions(2);
  EXPECT_EQ(first.exchanges(), 2);
  EXPECT_EQ(first.origin(), "update config");
  EXPECT_THAT(first.author(), Not(IsEmpty()));
  EXPECT_GT(first.create_time().seconds(), 0);
  EXPECT_EQ(list_.versions(0).etag(), GetConfig().etag());

  ASSERT_TRUE(List(2).ok());
  EXPECT_THAT(ListedGenerations(), ElementsAre(3, 2));
  const std::string token = list_.next_page_token();
  Apply("four");
  ASSERT_TRUE(List(2, token).ok());
  EXPECT_THAT(ListedGenerations(), ElementsAre(1)) << "a new version moves no page";
  EXPECT_EQ(list_.next_page_token(), "");

  EXPECT_THAT(PathsOf(List(-1)), ElementsAre("page_size"));
  EXPECT_THAT(PathsOf(List(1001)), ElementsAre("page_size"));
  EXPECT_THAT(PathsOf(List(1, "x")), ElementsAre("page_token"));
}

TEST_F(ConfigVersionRpcTest, RollsBackAsANewVersion) {
  Apply("one");
  const std::string old_etag = updated_.etag();
  Apply("two");
  EXPECT_EQ(DetailOf(Rollback(1, "")).reason(), "ETAG_MISSING");
  EXPECT_EQ(DetailOf(Rollback(1, old_etag)).reason(), "ETAG_MISMATCH");
  EXPECT_EQ(DetailOf(Rollback(9, GetConfig().etag())).reason(), "VERSION_NOT_FOUND");
  const grpc::Status status = Rollback(1, GetConfig().etag());
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(updated_.generation(), 3);
  EXPECT_EQ(updated_.pools(0).id(), "one");
  EXPECT_NE(updated_.etag(), old_etag);
  EXPECT_EQ(updated_.SerializeAsString(), GetConfig().SerializeAsString());
  ASSERT_TRUE(List(1).ok());
  EXPECT_EQ(list_.versions(0).origin(), "rollback to generation 1");
}

TEST_F(ConfigVersionRpcTest, AddsAndChangesAndRemovesAnEndpoint) {
  Apply("chat");
  ASSERT_TRUE(Add("chat", "b", "http://127.0.0.1:9001").ok());
  EXPECT_EQ(updated_.generation(), 2);
  ASSERT_EQ(updated_.pools(0).endpoints_size(), 2);
  EXPECT_EQ(updated_.pools(0).endpoints(1).uri(), "http://127.0.0.1:9001");
  ASSERT_TRUE(Change("chat", "a", "http://127.0.0.1:9002").ok());
  EXPECT_EQ(updated_.pools(0).endpoints(0).uri(), "http://127.0.0.1:9002");
  ASSERT_TRUE(Remove("pools/chat/endpoints/a").ok());
  ASSERT_EQ(updated_.pools(0).endpoints_size(), 1);
  EXPECT_EQ(updated_.pools(0).endpoints(0).id(), "b");
  EXPECT_EQ(updated_.SerializeAsString(), GetConfig().SerializeAsString());
  ASSERT_TRUE(List(0).ok());
  EXPECT_EQ(list_.versions(0).origin(), "remove endpoint pools/chat/endpoints/a");
  EXPECT_EQ(list_.versions(1).origin(), "update endpoint pools/chat/endpoints/a");
  EXPECT_EQ(list_.versions(2).origin(), "add endpoint pools/chat/endpoints/b");
}

TEST_F(ConfigVersionRpcTest, RefusesAnEndpointCallAndSaysWhy) {
  Apply("chat");
  const auto expect = [](const grpc::Status& status, grpc::StatusCode code, const char* reason) {
    EXPECT_EQ(status.error_code(), code);
    EXPECT_EQ(DetailOf(status).reason(), reason);
  };
  expect(Add("other", "b", "http://h"), grpc::StatusCode::NOT_FOUND, "POOL_NOT_FOUND");
  expect(Add("chat", "a", "http://h"), grpc::StatusCode::ALREADY_EXISTS, "ENDPOINT_EXISTS");
  expect(Change("chat", "b", "http://h"), grpc::StatusCode::NOT_FOUND, "ENDPOINT_NOT_FOUND");
  expect(Change("other", "a", "http://h"), grpc::StatusCode::NOT_FOUND, "ENDPOINT_NOT_FOUND");
  for (const char* name : {"pools/chat/endpoints/b", "pools/other/endpoints/a", "a", "",
                           "pool/chat/endpoints/a", "pools/chat/endpoints/a/"}) {
    expect(Remove(name), grpc::StatusCode::NOT_FOUND, "ENDPOINT_NOT_FOUND");
  }
  expect(Add("chat", "b", "http://h", "old"), grpc::StatusCode::ABORTED, "ETAG_MISMATCH");
  expect(Remove("pools/chat/endpoints/a", "old"), grpc::StatusCode::ABORTED, "ETAG_MISMATCH");
  EXPECT_THAT(PathsOf(Add("chat", "b", "nowhere")), ElementsAre("pools[0].endpoints[1].uri"));
  // Not more of a name comes back than a trailer holds.
  expect(Remove(std::string(1 << 20, 'x')), grpc::StatusCode::NOT_FOUND, "ENDPOINT_NOT_FOUND");
  EXPECT_EQ(store_.Current()->generation(), 1u);
}

TEST_F(ConfigVersionRpcTest, LosesNoEndpointOfSeveralWriters) {
  pb::UpdateConfigRequest large = RequestFor("chat");  // so that a change takes a while
  for (int i = 0; i < 1000; ++i) {
    large.mutable_config()->add_pools()->set_id(absl::StrCat("pool-", i));
  }
  ASSERT_TRUE(Update(large).ok());
  constexpr int kWriters = 4;
  constexpr int kEach = 20;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      for (int i = 0; i < kEach; ++i) {
        pb::AddEndpointRequest request;
        request.set_pool("chat");
        request.mutable_endpoint()->set_id(absl::StrCat("w", writer, "-", i));
        request.mutable_endpoint()->set_uri("http://127.0.0.1:9001");
        grpc::ClientContext context;
        pb::Config ignored;
        const grpc::Status status = control_->AddEndpoint(&context, request, &ignored);
        EXPECT_TRUE(status.ok()) << status.error_message();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(GetConfig().pools(0).endpoints_size(), 1 + kWriters * kEach);
  EXPECT_EQ(GetConfig().generation(), 1 + kWriters * kEach);
}

TEST_F(ConfigVersionRpcTest, FailsWhenAVersionCannotBeStored) {
  auto dir = std::make_unique<testing::TempDirectory>();
  auto state = StateDir::Open(dir->path());
  ASSERT_TRUE(state.ok());
  ASSERT_TRUE(store_.Open(*std::move(state)).ok());
  Apply("chat");
  dir = nullptr;
  const grpc::Status status = Add("chat", "b", "http://127.0.0.1:9001");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf(status).reason(), "CONFIG_NOT_STORED");
  EXPECT_EQ(GetConfig().generation(), 1);
  EXPECT_EQ(GetConfig().pools(0).endpoints_size(), 1);
}

TEST_F(ConfigVersionRpcTest, AuditsEachChangeAndEachRefusal) {
  std::vector<std::string> lines;
  SetLogSink([&](absl::string_view line) { lines.emplace_back(line); });
  Apply("chat");
  Add("chat", "a", "http://127.0.0.1:9001");
  Plan(RequestFor("other"));
  pb::UpdateConfigRequest validate = RequestFor("other");
  validate.set_validate_only(true);
  Update(validate);
  SetLogSink({});
  ASSERT_EQ(lines.size(), 2u) << "what changes nothing is not in it";
  EXPECT_THAT(lines[0], AllOf(HasSubstr("audit"), HasSubstr("who="), HasSubstr("update config"),
                              HasSubstr("outcome=OK"), HasSubstr("generation=1")));
  EXPECT_THAT(lines[1],
              AllOf(HasSubstr("add endpoint pools/chat/endpoints/a"), HasSubstr("ALREADY_EXISTS")));
}

// 2,000 pools come to more than gRPC's default limit of 4 MiB, in each direction.
TEST_F(ConfigVersionRpcTest, HandlesTwoThousandPools) {
  pb::UpdateConfigRequest request = RequestFor("chat");
  for (int i = 0; i < 2000; ++i) {
    pb::Pool* pool = request.mutable_config()->add_pools();
    pool->set_id(absl::StrCat("pool-", i));
    for (int j = 0; j < 8; ++j) {
      pb::Endpoint* endpoint = pool->add_endpoints();
      endpoint->set_id(absl::StrCat("endpoint-", j));
      endpoint->set_uri(absl::StrCat("http://127.0.0.1:9000/", std::string(270, 'p')));
    }
    pb::Route* route = request.mutable_config()->add_routes();
    route->set_model(absl::StrCat("model-", i));
    route->set_pool(pool->id());
  }
  ASSERT_GT(request.ByteSizeLong(), size_t{4} << 20);
  EXPECT_THAT(Validate(request.config()), IsEmpty());
  ASSERT_TRUE(Plan(request).ok());
  EXPECT_EQ(plan_.changes_size(), 4002);
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(GetConfig().pools_size(), 2001);
  ASSERT_TRUE(Add("pool-1999", "b", "http://127.0.0.1:9001").ok());
  ASSERT_TRUE(Rollback(1, updated_.etag()).ok());
  EXPECT_EQ(updated_.pools(2000).endpoints_size(), 8);
}

}  // namespace
}  // namespace sluice::server
