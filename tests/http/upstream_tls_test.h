#ifndef SLUICE_TESTS_HTTP_UPSTREAM_TLS_TEST_H_
#define SLUICE_TESTS_HTTP_UPSTREAM_TLS_TEST_H_

#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tests/http/upstream_test.h"
#include "tests/support/engine_front.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_authority.h"

namespace sluice::testing {

/// An upstream client, and an engine behind TLS.
class UpstreamTlsTest : public UpstreamTest {
 protected:
  UpstreamTlsTest() { engine_->AnswerAll(Script().Json("hello")); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  EngineFront& Serve(EngineFront::Options options = {}) {
    options.engine_port = engine_->port();
    if (options.identity.certificate.empty()) options.identity = authority_.IssueForServer();
    front_.emplace(std::move(options));
    EXPECT_TRUE(front_->ok());
    return *front_;
  }

  UpstreamAddress Address(const std::string& host = "localhost") {
    UpstreamAddress address = AddressOf(absl::StrCat("https://", host, ":", front_->port()));
    address.ip = "127.0.0.1";
    address.tls.ca_file = Write("ca.pem", authority_.certificate());
    return address;
  }

  const TempDirectory directory_;
  const TestAuthority authority_;
  std::optional<EngineFront> front_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_HTTP_UPSTREAM_TLS_TEST_H_
