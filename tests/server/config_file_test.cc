#include "server/config_file.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Files like this one must be read by every later version.
constexpr char kSmallest[] =
    R"({"pools":[{"id":"chat","endpoints":[{"id":"a","uri":"http://127.0.0.1:9000"}]}],)"
    R"("routes":[{"model":"*","pool":"chat"}]})";

std::string ErrorOf(absl::string_view json) {
  const auto config = ParseConfig(json);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(config.status().message());
}

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ConfigFileTest, ReadsTheSmallestFile) {
  const auto config = ParseConfig(kSmallest);
  ASSERT_TRUE(config.ok()) << config.status();
  config::Config expected;
  expected.pools = {{.id = "chat", .endpoints = {{"a", "http://127.0.0.1:9000"}}}};
  expected.routes = {{"*", "chat"}};
  EXPECT_EQ(*config, expected);
}

TEST(ConfigFileTest, ReadsSettingsInProtoJson) {
  const auto config = ParseConfig(R"({
    "pools": [{
      "id": "chat",
      "timeouts": {"connect": "1.5s", "frame_idle": "20s"},
      "retry": {"max_attempts": 1, "retry_503": false},
      "commit_point": "COMMIT_POINT_ON_HEAD"
    }],
    "limits": {"max_body_bytes": "1000"}
  })");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->pools[0].timeouts.connect, std::chrono::milliseconds(1500));
  EXPECT_EQ(config->pools[0].timeouts.frame_idle, std::chrono::seconds(20));
  EXPECT_EQ(config->pools[0].retry.max_attempts, 1);
  EXPECT_FALSE(config->pools[0].retry.retry_503);
  EXPECT_TRUE(config->pools[0].retry.retry_after_send);
  EXPECT_EQ(config->pools[0].commit, config::CommitPoint::kOnHead);
  EXPECT_EQ(config->limits.max_body_bytes, 1000u);
}

TEST(ConfigFileTest, IgnoresTheOutputOnlyFieldsThatGetConfigAdds) {
  EXPECT_TRUE(ParseConfig(R"({"name":"config","etag":"x","generation":"4",
                              "updateTime":"2026-01-02T03:04:05Z"})")
                  .ok());
}

TEST(ConfigFileTest, ReportsAllProblemsWithPathAndReason) {
  EXPECT_THAT(ErrorOf(R"({"pools":[{"id":"A","commitPoint":9,
                                    "endpoints":[{"id":"a","uri":"http://::1:9001"}]}],
                          "routes":[{"model":"*","pool":"chat"}]})"),
              AllOf(HasSubstr("pools[0].commit_point: "), HasSubstr("pools[0].id: must be"),
                    HasSubstr("pools[0].endpoints[0].uri: an IPv6 address needs brackets"),
                    HasSubstr("routes[0].pool: there is no pool \"chat\"")));
}

TEST(ConfigFileTest, RefusesUnknownFieldsByName) {
  EXPECT_THAT(ErrorOf(R"({"pools":[{"id":"chat","endpointz":[]}]})"), HasSubstr("endpointz"));
}

TEST(ConfigFileTest, RefusesTextThatIsNotSuchJson) {
  for (const char* bad :
       {"", "{", "[]", "null x", "{\"pools\":[{\"id\":[]}]}",
        "{\"limits\":{\"max_in_flight\":\"many\"}}", "{\"pools\":[{\"timeouts\":{\"idle\":5}}]}",
        "{\"pools\":[{\"relay_mode\":\"SIDEWAYS\"}]}"}) {
    EXPECT_THAT(ErrorOf(bad), HasSubstr("is not the JSON of a sluice.control.v1.Config")) << bad;
  }
}

TEST(ConfigFileTest, NamesTheFileInEveryError) {
  const std::string path = WriteFile("bad.json", "{");
  EXPECT_THAT(std::string(ReadConfigFile(path).status().message()), HasSubstr(path));
  const std::string missing = ::testing::TempDir() + "missing.json";
  const auto config = ReadConfigFile(missing);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(missing));
}

TEST(ConfigFileTest, RefusesADirectory) { EXPECT_FALSE(ReadConfigFile(::testing::TempDir()).ok()); }

TEST(ConfigFileTest, RefusesAnEmptyFileAsJson) {
  EXPECT_EQ(ReadConfigFile(WriteFile("empty.json", "")).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ConfigFileTest, ReadsAFile) {
  const auto config = ReadConfigFile(WriteFile("good.json", kSmallest));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->pools.size(), 1u);
}

}  // namespace
}  // namespace sluice::server
