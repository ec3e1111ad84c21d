#include "tests/admin/sluicectl_test.h"

#include "gmock/gmock.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(SluicectlTest, StatusIsAnAlignedTable) {
  server_.status.set_version("0.1.0");
  server_.status.mutable_start_time()->set_seconds(1767323045 - 3 * 3600);
  server_.status.set_boot_id("b\x1b");
  server_.status.set_in_flight(2);
  server_.status.set_accepted(30);
  server_.status.mutable_ring()->set_capacity(100);
  server_.status.mutable_ring()->set_size(40);
  server_.status.mutable_ring()->set_published(4000);
  server_.status.set_watchers(1);
  server_.status.set_config_etag("e1");
  server_.status.set_config_generation(1);
  EXPECT_EQ(Run({"status"}), ExitCode::kOk);
  EXPECT_EQ(out(), "server      " + server_.address() +
                       "\n"
                       "version     0.1.0\n"
                       "up          3h00m, since 2026-01-02 00:04:05 +00:00\n"
                       "boot        b\\x1b\n"
                       "exchanges   2 in flight, 30 accepted\n"
                       "events      4000 published, 40 held of at most 100\n"
                       "watchers    1, 0 dropped for being too slow\n"
                       "config      generation 1, etag e1\n");
  EXPECT_EQ(err(), "");
}

TEST_F(SluicectlTest, StatusSaysThatTheServerDrains) {
  server_.status.set_draining(true);
  EXPECT_EQ(Run({"status"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("0 accepted; draining, no more are accepted\n"));
}

TEST_F(SluicectlTest, AnInterruptEndsAUnaryCall) {
  stop_.request_stop();
  EXPECT_EQ(Run({"config", "get"}), ExitCode::kError);
  EXPECT_THAT(err(), HasSubstr("interrupted"));
  EXPECT_EQ(out(), "");
}

TEST_F(SluicectlTest, StatusAsJsonShowsZerosToo) {
  EXPECT_EQ(Run({"status", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\"in_flight\":\"0\""));
  EXPECT_THAT(out(), ::testing::EndsWith("}\n"));
}

TEST_F(SluicectlTest, ConfigGetPrintsWhatApplyTakes) {
  server_.config.set_etag("e1");
  server_.config.add_pools()->set_id("chat");
  server_.config.mutable_limits()->set_max_in_flight(0);
  EXPECT_EQ(Run({"config", "get"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\"max_in_flight\": 0"));
  in_.str(out());
  EXPECT_EQ(Run({"config", "apply", "-"}), ExitCode::kOk);
  ASSERT_EQ(server_.updates().size(), 1u);
  EXPECT_EQ(server_.updates()[0].config().SerializeAsString(), server_.config.SerializeAsString());
}

TEST_F(SluicectlTest, ApplyReadsTheEtagUnlessTheFileHasOne) {
  server_.config.set_etag("e1");
  in_.str(R"({"pools":[{"id":"chat"}]})");
  EXPECT_EQ(Run({"config", "apply", "-"}), ExitCode::kOk);
  EXPECT_EQ(out(), "applied: generation 2, etag e2\n");
  EXPECT_EQ(server_.config_reads(), 1);
  ASSERT_EQ(server_.updates().size(), 1u);
  EXPECT_EQ(server_.updates()[0].config().etag(), "e1");
  EXPECT_THAT(server_.updates()[0].update_mask().paths(), ElementsAre("*"));

  in_.clear();
  in_.str(R"({"etag":"e0"})");
  EXPECT_EQ(Run({"config", "apply", "-"}), ExitCode::kOk);
  EXPECT_EQ(server_.config_reads(), 1);
  EXPECT_EQ(server_.updates()[1].config().etag(), "e0");
}

TEST_F(SluicectlTest, ApplyListsEveryViolation) {
  v1::ErrorDetail detail;
  detail.set_reason("CONFIG_INVALID");
  for (const char* path : {"pools[0].id", "routes[1].pool"}) {
    v1::Violation* violation = detail.add_violations();
    violation->set_field_path(path);
    violation->set_description("is wrong");
  }
  server_.update_result =
      FakeControlServer::Error(grpc::StatusCode::INVALID_ARGUMENT, "2 violations", detail);
  in_.str("{}");
  EXPECT_EQ(Run({"config", "apply", "-"}), ExitCode::kInvalidConfig);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(),
            "sluicectl: the configuration is not valid, nothing was changed:\n"
            "  pools[0].id: is wrong\n"
            "  routes[1].pool: is wrong\n");
}

TEST_F(SluicectlTest, ApplyRefusesAFileThatIsNoConfigurationBeforeItSends) {
  in_.str(R"({"pool":[]})");
  EXPECT_EQ(Run({"config", "apply", "-"}), ExitCode::kInvalidConfig);
  EXPECT_THAT(err(), HasSubstr("pool"));
  EXPECT_EQ(server_.config_reads(), 0);
  EXPECT_EQ(Run({"config", "apply", "/nowhere/config.json"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("cannot read /nowhere/config.json: No such file"));
  EXPECT_EQ(Run({"config", "apply", "/"}), ExitCode::kUsage);
}

TEST_F(SluicectlTest, ErrorsHaveTheirExitCodesAndSayTheNextStep) {
  const struct {
    grpc::StatusCode code;
    ExitCode exit_code;
    const char* words;
  } kRows[] = {{grpc::StatusCode::ABORTED, ExitCode::kConflict, "sluicectl config get"},
               {grpc::StatusCode::NOT_FOUND, ExitCode::kNotFound, "not found: words"},
               {grpc::StatusCode::UNAVAILABLE, ExitCode::kUnreachable, "--server"},
               {grpc::StatusCode::DEADLINE_EXCEEDED, ExitCode::kUnreachable, "--server"},
               {grpc::StatusCode::INVALID_ARGUMENT, ExitCode::kError, "words (INVALID_ARGUMENT)"},
               {grpc::StatusCode::INTERNAL, ExitCode::kError, "words (INTERNAL)"}};
  for (const auto& row : kRows) {
    server_.update_result = grpc::Status(row.code, "words");
    in_.clear();
    in_.str(R"({"etag":"e"})");
    err_.str("");
    EXPECT_EQ(Run({"config", "apply", "-"}), row.exit_code);
    EXPECT_THAT(err(), HasSubstr(row.words));
    EXPECT_THAT(err(), HasSubstr("words"));
  }
  EXPECT_EQ(out(), "");
}

TEST_F(SluicectlTest, AWrongCommandLineIsAUsageError) {
  EXPECT_EQ(Run({"no-such"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"watch", "--tail", "-1"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"watch", "--tail", "1000001"}), ExitCode::kUsage);
  EXPECT_EQ(out(), "");
}

TEST_F(SluicectlTest, VersionAsksNobody) {
  EXPECT_EQ(Run({"version"}), ExitCode::kOk);
  EXPECT_THAT(out(), StartsWith("sluicectl "));
}

}  // namespace
}  // namespace sluice::admin
