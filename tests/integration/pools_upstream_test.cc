// The ways to an endpoint: TLS, Unix sockets, prefixes and additions, addresses of a name.

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tests/integration/pools_fixture.h"
#include "tests/support/engine_front.h"
#include "tests/support/scoped_env.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_authority.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PoolsUpstreamTest : public PoolsTest {
 protected:
  PoolsUpstreamTest() { engine_ = StartEngine(); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  EngineFront::Options BehindTls() {
    EngineFront::Options options;
    options.engine_port = engine_->port();
    options.identity = authority_.IssueForServer();
    return options;
  }

  /// The pool's one endpoint is behind TLS, and trusted if `authority` issued its certificate.
  static config::Config ConfigFor(const EngineFront& front, const std::string& ca_file) {
    config::Config config =
        GatewayFixture::ConfigFor(absl::StrCat("https://localhost:", front.port()));
    config.pools[0].tls.ca_file = ca_file;
    return config;
  }

  const TempDirectory directory_;
  const TestAuthority authority_;
};

TEST_F(PoolsUpstreamTest, StreamsThroughTlsByteForByte) {
  std::string body;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&body, ContentEvent(absl::StrCat("word ", i)));
  absl::StrAppend(&body, FinishEvent(), kDoneEvent);
  EngineFront::Options options = BehindTls();
  options.record_bytes = 1000;
  const EngineFront front(options);
  ASSERT_TRUE(front.ok());
  StartGateway(ConfigFor(front, Write("ca.pem", authority_.certificate())), 1);
  engine_->Enqueue(Script().SseHead().Chunks(SplitBytes(body, 777)).LastChunk());
  ExpectPassed(Run(), body);
  ASSERT_EQ(front.handshakes().size(), 1u);
  EXPECT_EQ(front.handshakes()[0].server_name, "localhost");
  EXPECT_THAT(engine_->requests()[0].HeaderValues("Host"),
              ElementsAre(absl::StrCat("localhost:", front.port())));
}

TEST_F(PoolsUpstreamTest, ShowsItsCertificateToAnEndpointThatAsksForOne) {
  EngineFront::Options options = BehindTls();
  options.client_authority = authority_.certificate();
  const EngineFront front(options);
  ASSERT_TRUE(front.ok());
  config::Config config = ConfigFor(front, Write("ca.pem", authority_.certificate()));
  const TestAuthority::Issued own = authority_.Issue("gateway");
  config.pools[0].tls.certificate_file = Write("own.pem", own.certificate);
  config.pools[0].tls.private_key_file = Write("own.key", own.key);
  StartGateway(config, 1);
  ExpectPassed(RunScript(GoodStream()), GoodBody());
  ASSERT_EQ(front.handshakes().size(), 1u);
  EXPECT_EQ(front.handshakes()[0].client, "gateway");
}

TEST_F(PoolsUpstreamTest, AnswersForAnUntrustedCertificateWith502AndRecordsTheReason) {
  const EngineFront front(BehindTls());
  ASSERT_TRUE(front.ok());
  StartGateway(ConfigFor(front, Write("ca.pem", TestAuthority("another").certificate())), 1);
  const Outcome outcome = Run();
  ExpectError(outcome, 502, "tls_failed");
  ASSERT_EQ(outcome.record().attempts.size(), 1u);
  EXPECT_THAT(outcome.record().attempts[0].detail, HasSubstr("certificate"));
  EXPECT_THAT(engine_->requests(), IsEmpty());
}

TEST_F(PoolsUpstreamTest, AnUntrustedCertificateSendsTheRequestElsewhere) {
  const EngineFront front(BehindTls());
  ASSERT_TRUE(front.ok());
  second_ = StartEngine();
  config::Config config = ConfigFor(front, Write("ca.pem", TestAuthority("another").certificate()));
  config.pools[0].endpoints.push_back({"b", second_->uri()});
  StartGateway(config, 1);
  second_->Enqueue(GoodStream());
  const Outcome outcome = Run();
  ExpectPassed(outcome, GoodBody());
  EXPECT_EQ(outcome.attempts(), "tls_failed -");
  EXPECT_THAT(outcome.record().attempts[0].detail, Not(IsEmpty()));
  EXPECT_THAT(engine_->requests(), IsEmpty());
}

TEST_F(PoolsUpstreamTest, StreamsThroughAUnixSocket) {
  EngineFront::Options options;
  options.engine_port = engine_->port();
  options.at = directory_.path() + "/engine.sock";
  const EngineFront front(options);
  ASSERT_TRUE(front.ok());
  StartGateway(GatewayFixture::ConfigFor(absl::StrCat("unix:", options.at, ":/prefix")), 1);
  ExpectPassed(RunScript(GoodStream()), GoodBody());
  EXPECT_EQ(engine_->requests()[0].target(), "/prefix/v1/chat/completions");
  EXPECT_THAT(engine_->requests()[0].HeaderValues("Host"), ElementsAre("localhost"));
}

TEST_F(PoolsUpstreamTest, AddsPrefixQueryHeadersAndABareKey) {
  config::Config config = GatewayFixture::ConfigFor(
      absl::StrCat(engine_->uri(), "/openai/deployments/d1?api-version=2024-06-01"));
  config::Pool& pool = config.pools[0];
  pool.key_header = "api-key";
  pool.keys = {{.id = "k1", .file = Write("key", " azure-key \n")}};
  pool.endpoints[0].headers = {{"X-Deployment", "d1"}, {"User-Agent", "sluice"}};
  StartGateway(config, 1);
  engine_->Enqueue(GoodStream());
  const std::string body = R"({"model":"m1","stream":true,"messages":[]})";
  ExpectPassed(Run(PostRequest("/v1/chat/completions?x=%201", body,
                               "Authorization: Bearer client-key\r\nUser-Agent: theirs\r\n")),
               GoodBody());
  const EngineRequest seen = engine_->requests()[0];
  EXPECT_EQ(seen.target(),
            "/openai/deployments/d1/v1/chat/completions?x=%201&api-version=2024-06-01");
  EXPECT_THAT(seen.HeaderValues("api-key"), ElementsAre("azure-key"));
  EXPECT_THAT(seen.HeaderValues("Authorization"), IsEmpty());
  EXPECT_THAT(seen.HeaderValues("X-Deployment"), ElementsAre("d1"));
  EXPECT_THAT(seen.HeaderValues("User-Agent"), ElementsAre("sluice"));
  EXPECT_EQ(seen.body, body);
}

TEST_F(PoolsUpstreamTest, EachAddressOfAResolvedNameIsAnEndpoint) {
  engine_->AnswerAll(GoodStream());
  config::Config config =
      GatewayFixture::ConfigFor(absl::StrCat("http://localhost:", engine_->port()));
  config.pools[0].endpoints[0].resolve = true;
  StartGateway(config, 1);
  // Until the name is found, it is used as it is. Where it has ::1 too, nothing listens there.
  std::string endpoint;
  EXPECT_TRUE(Eventually([&] {
    const Outcome outcome = Run();
    ExpectPassed(outcome, GoodBody());
    endpoint = outcome.record().attempts.back().endpoint;
    return absl::StrContains(endpoint, "@");
  }));
  EXPECT_EQ(endpoint, Name("a@127.0.0.1"));
  EXPECT_EQ(InFlightAt("a@127.0.0.1"), 0);
}

}  // namespace
}  // namespace sluice::testing
