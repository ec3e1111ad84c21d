#include "lib/base/local_address.h"

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(LocalAddressTest, IsALoopbackLiteralOrAUnixSocket) {
  for (const char* address : {"127.0.0.1:9090", "127.0.0.1:0", "127.9.8.7:1", "[::1]:9090",
                              "[0:0:0:0:0:0:0:1]:1", "unix:/run/sluice.sock", "unix:sluice.sock"}) {
    EXPECT_TRUE(IsLocalAddress(address)) << address;
  }
}

TEST(LocalAddressTest, IsNothingThatAnotherHostMayReachAndNoName) {
  for (const char* address : {"0.0.0.0:9090",
                              "[::]:9090",
                              "10.0.0.1:9090",
                              "128.0.0.1:1",
                              "126.255.255.255:1",
                              "[fe80::1]:1",
                              "[::2]:1",
                              "[::ffff:127.0.0.1]:1",
                              "localhost:9090",
                              "127.0.0.1.evil.org:1",
                              "127.1:1",
                              "127.0.0.1",
                              "127.0.0.1:",
                              "127.0.0.1:http",
                              "127.0.0.1:65536",
                              "127.0.0.1:-1",
                              ":9090",
                              "",
                              "::1:80",
                              "[::1",
                              "[:1",
                              "ipv4:0.0.0.0:1",
                              "ipv4:127.0.0.1:1,10.0.0.1:1",
                              "dns:///127.0.0.1:1",
                              "*:1"}) {
    EXPECT_FALSE(IsLocalAddress(address)) << address;
  }
}

}  // namespace
}  // namespace sluice
