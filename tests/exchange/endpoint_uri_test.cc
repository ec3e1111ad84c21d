#include "lib/exchange/endpoint_uri.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

using Scheme = EndpointUri::Scheme;

EndpointUri Parsed(absl::string_view text) {
  const auto uri = ParseEndpointUri(text);
  EXPECT_TRUE(uri.ok()) << text << ": " << uri.status();
  return uri.value_or(EndpointUri{});
}

TEST(EndpointUriTest, SplitsHostPortPrefixAndQuery) {
  EXPECT_EQ(Parsed("http://engine.local:9000/v1?api-version=2024-06-01&x=/?"),
            (EndpointUri{.host = "engine.local",
                         .port = 9000,
                         .path_prefix = "/v1",
                         .query = "api-version=2024-06-01&x=/?",
                         .authority = "engine.local:9000"}));
}

TEST(EndpointUriTest, UsesTheDefaultPortOfTheSchemeUnlessOneIsGiven) {
  const EndpointUri http = {.host = "engine", .port = 80, .authority = "engine"};
  EXPECT_EQ(Parsed("http://engine"), http);
  EXPECT_EQ(Parsed("http://engine:80"), http);
  EXPECT_EQ(Parsed("http://engine:443").authority, "engine:443");
  const EndpointUri https = {
      .scheme = Scheme::kHttps, .host = "engine", .port = 443, .authority = "engine"};
  EXPECT_EQ(Parsed("https://engine"), https);
  EXPECT_EQ(Parsed("https://engine:443"), https);
  EXPECT_EQ(Parsed("https://engine:80").authority, "engine:80");
}

TEST(EndpointUriTest, DropsTheSlashThatEndsAPrefix) {
  EXPECT_EQ(Parsed("http://engine/").path_prefix, "");
  EXPECT_EQ(Parsed("http://engine/a/b/").path_prefix, "/a/b");
  EXPECT_EQ(Parsed("http://engine/a/?x=/").path_prefix, "/a");
}

TEST(EndpointUriTest, TakesIpv6OutOfItsBracketsButKeepsThemInTheAuthority) {
  EXPECT_EQ(Parsed("http://[::1]:9001"),
            (EndpointUri{.host = "::1", .port = 9001, .authority = "[::1]:9001"}));
  EXPECT_EQ(Parsed("https://[fe80::2]/v1"), (EndpointUri{.scheme = Scheme::kHttps,
                                                         .host = "fe80::2",
                                                         .port = 443,
                                                         .path_prefix = "/v1",
                                                         .authority = "[fe80::2]"}));
}

TEST(EndpointUriTest, TakesUnixSocketsWithWhatFollowsThem) {
  EndpointUri uri = {
      .scheme = Scheme::kUnix, .authority = "localhost", .socket_path = "/run/engine-1.sock"};
  EXPECT_EQ(Parsed("unix:/run/engine-1.sock"), uri);
  EXPECT_EQ(Parsed("unix:/run/engine-1.sock:/"), uri);
  uri.query = "x=1";
  EXPECT_EQ(Parsed("unix:/run/engine-1.sock?x=1"), uri);
  uri.path_prefix = "/v1";
  EXPECT_EQ(Parsed("unix:/run/engine-1.sock:/v1/?x=1"), uri);
}

TEST(EndpointUriTest, JoinsPrefixAndQueryToARequest) {
  const EndpointUri plain = Parsed("http://engine/v1");
  EXPECT_EQ(TargetAt(plain, "/chat"), "/v1/chat");
  EXPECT_EQ(TargetAt(plain, "/chat?x=1"), "/v1/chat?x=1");
  const EndpointUri with_query = Parsed("http://engine/v1?a=b");
  EXPECT_EQ(TargetAt(with_query, "/chat"), "/v1/chat?a=b");
  EXPECT_EQ(TargetAt(with_query, "/chat?x=1"), "/v1/chat?x=1&a=b");
  EXPECT_EQ(TargetAt(with_query, "/chat?"), "/v1/chat?a=b");
  EXPECT_EQ(TargetAt(with_query, "/chat?x=1&"), "/v1/chat?x=1&a=b");
}

TEST(EndpointUriTest, RefusesWhatItCannotServeAndSaysWhy) {
  const struct {
    std::string uri;
    std::string reason;
  } cases[] = {
      {"", "must have the form"},
      {"127.0.0.1:9000", "must have the form"},
      {"ftp://engine", "must have the form"},
      {"https:engine", "must have the form"},
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
      {"https://", "host is missing"},
      {"http://engine/v1#x", "fragment"},
      {"http://engine?x#y", "fragment"},
      {"http://engine?x=1 2", "query has bytes"},
      {"http://engine?x=\"1\"", "query has bytes"},
      {"unix:", "absolute path"},
      {"unix:run/engine.sock", "absolute path"},
      {"unix://run/engine.sock", "absolute path"},
      {"unix:/run/", "absolute path"},
      {"unix:/run/a%20b", "path of the Unix socket has bytes"},
      {"unix:/run/a b", "path of the Unix socket has bytes"},
      {"unix:/" + std::string(107, 'a'), "at most 107 bytes"},
      {"unix:/run/engine.sock:v1", "begins with a slash"},
      {"unix:/run/engine.sock:", "begins with a slash"},
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
  EXPECT_TRUE(ParseEndpointUri("unix:/" + std::string(106, 'a')).ok());
}

}  // namespace
}  // namespace sluice
