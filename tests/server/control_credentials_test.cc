#include "server/control_credentials.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kLocal[] = "127.0.0.1:9090";
constexpr char kEverywhere[] = "0.0.0.0:9090";

std::string Refusal(const std::string& address, const AccessOptions& options) {
  const absl::Status status = CheckAccess(address, options);
  EXPECT_TRUE(status.ok() || absl::IsUnauthenticated(status)) << status;
  return std::string(status.message());
}

TEST(CheckAccessTest, AsksNobodyOnALocalAddress) {
  EXPECT_EQ(Refusal(kLocal, {}), "");
  EXPECT_EQ(Refusal("unix:/run/sluice.sock", {}), "");
}

TEST(CheckAccessTest, AllowsTokensWithoutTlsOnALocalAddressOnly) {
  EXPECT_EQ(Refusal(kLocal, {.roles = "r"}), "");
  EXPECT_THAT(Refusal(kEverywhere, {.roles = "r"}), HasSubstr("--control_tls_cert"));
}

TEST(CheckAccessTest, RefusesAnAddressThatOthersReachWithoutTlsAndRoles) {
  for (const char* address : {kEverywhere, "[::]:9090", "10.0.0.1:9090", "localhost:9090"}) {
    EXPECT_THAT(Refusal(address, {}),
                AllOf(HasSubstr(address), HasSubstr("--control_tls_cert"),
                      HasSubstr("--control_tls_key"), HasSubstr("--control_roles"),
                      HasSubstr("--control_client_ca"), HasSubstr("127.0.0.1:9090")));
  }
}

TEST(CheckAccessTest, AllowsAnyAddressWithTlsAndRoles) {
  EXPECT_EQ(Refusal(kEverywhere, {.tls_cert = "c", .tls_key = "k", .roles = "r"}), "");
  EXPECT_EQ(Refusal(kEverywhere, {"c", "k", "a", "r"}), "");
}

TEST(CheckAccessTest, RefusesWhatIsHalfGivenOnAnyAddress) {
  for (const char* address : {kLocal, kEverywhere}) {
    EXPECT_THAT(Refusal(address, {.tls_cert = "c", .roles = "r"}), HasSubstr("go together"));
    EXPECT_THAT(Refusal(address, {.tls_key = "k", .roles = "r"}), HasSubstr("go together"));
    EXPECT_THAT(Refusal(address, {.client_ca = "a", .roles = "r"}), HasSubstr("needs TLS"));
    EXPECT_THAT(Refusal(address, {.tls_cert = "c", .tls_key = "k"}), HasSubstr("--control_roles"));
    EXPECT_THAT(Refusal(address, {.tls_cert = "c", .tls_key = "k", .client_ca = "a"}),
                HasSubstr("--control_roles"));
  }
}

}  // namespace
}  // namespace sluice::server
