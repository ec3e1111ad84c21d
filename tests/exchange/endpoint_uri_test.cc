#include "lib/exchange/endpoint_uri.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(EndpointUriTest, SplitsHostPortAndPrefix) {
  const auto uri = ParseEndpointUri("http://engine.local:9000/v1");
  ASSERT_TRUE(uri.ok()) << uri.status();
  EXPECT_EQ(*uri, (EndpointUri{"engine.local", 9000, "/v1", "engine.local:9000"}));
}

TEST(EndpointUriTest, UsesPort80UnlessOneIsGiven) {
  EXPECT_EQ(*ParseEndpointUri("http://engine"), (EndpointUri{"engine", 80, "", "engine"}));
  EXPECT_EQ(*ParseEndpointUri("http://engine:80"), (EndpointUri{"engine", 80, "", "engine"}));
}

TEST(EndpointUriTest, DropsTheSlashThatEndsAPrefix) {
  EXPECT_EQ(ParseEndpointUri("http://engine/")->path_prefix, "");
  EXPECT_EQ(ParseEndpointUri("http://engine/a/b/")->path_prefix, "/a/b");
}

TEST(EndpointUriTest, TakesIpv6OutOfItsBracketsButKeepsThemInTheAuthority) {
  EXPECT_EQ(*ParseEndpointUri("http://[::1]:9001"), (EndpointUri{"::1", 9001, "", "[::1]:9001"}));
  EXPECT_EQ(*ParseEndpointUri("http://[fe80::2]/v1"),
            (EndpointUri{"fe80::2", 80, "/v1", "[fe80::2]"}));
}

TEST(EndpointUriTest, RefusesWhatItCannotServeAndSaysWhy) {
  const struct {
    std::string uri;
    std::string reason;
  } cases[] = {
      {"", "must have the form"},
      {"127.0.0.1:9000", "must have the form"},
      {"ftp://engine", "must have the form"},
      {"https://engine", "use http://"},
      {"http://", "host is missing"},
      {"http://:9000", "host is missing"},
      {"http://user:secret@engine", "user or a password"},
      {"http://::1:9001", "needs brackets, as in http://[::1]:9000"},
      {"http://[::1", "not closed"},
      {"http://[engine]", "not an IPv6 address"},
      {"http://[::1]9001", "only a port"},
      {"http://engine:", "port"},
      {"http://engine:0", "port"},
      {"http://engine:65536", "port"},
      {"http://engine:+80", "port"},
      {"http://engine:80 ", "port"},
      {"http://eng ine", "not a name"},
      {"http://engine\r\nHost: x", "not a name"},
      {"http://" + std::string(254, 'a'), "not a name"},
      {"http://engine?x=1", "query"},
      {"http://engine/v1?x=1", "query"},
      {"http://engine/v1#x", "fragment"},
      {"http://engine/v 1", "percent-encoded"},
      {"http://engine/\xc3\xa9", "percent-encoded"},
  };
  for (const auto& c : cases) {
    const auto uri = ParseEndpointUri(c.uri);
    ASSERT_FALSE(uri.ok()) << c.uri;
    EXPECT_EQ(uri.status().code(), absl::StatusCode::kInvalidArgument) << c.uri;
    EXPECT_THAT(std::string(uri.status().message()), HasSubstr(c.reason)) << c.uri;
  }
}

TEST(EndpointUriTest, TakesThePortsAndNamesAtTheLimits) {
  EXPECT_EQ(ParseEndpointUri("http://engine:1")->port, 1);
  EXPECT_EQ(ParseEndpointUri("http://engine:65535")->port, 65535);
  EXPECT_TRUE(ParseEndpointUri("http://" + std::string(253, 'a')).ok());
}

}  // namespace
}  // namespace sluice
