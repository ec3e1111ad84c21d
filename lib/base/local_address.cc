#include "lib/base/local_address.h"

#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace sluice {
namespace {

bool IsLoopback(std::string host) {
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return false;
  in6_addr v6;
  host = host.substr(1, host.size() - 2);
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

bool IsLocalAddress(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return false;
  uint32_t port;
  return absl::SimpleAtoi(address.substr(colon + 1), &port) && port <= 0xffff &&
         IsLoopback(std::string(address.substr(0, colon)));
}

}  // namespace sluice
