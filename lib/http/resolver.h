#ifndef SLUICE_LIB_HTTP_RESOLVER_H_
#define SLUICE_LIB_HTTP_RESOLVER_H_

#include <string>
#include <sys/socket.h>
#include <vector>

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/runtime/blocking.h"

namespace sluice::http {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* any() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Whether `host` is an IPv4 or IPv6 address, without brackets.
bool IsAddress(const std::string& host);

/// Of a Unix socket; `path` is absolute and at most 107 bytes.
SocketAddress UnixAddress(const std::string& path);

/// Addresses of `host` (a name, or an address without brackets) in the system's order of
/// preference. A name is looked up on a thread of `threads`; the running fiber waits. Not kOk:
/// kDeadline, kCancelled, or kFailed with Cause::kDnsFailed. Thread-safe.
WaitResult Resolve(runtime::BlockingPool& threads, const std::string& host, int port,
                   Instant deadline, std::vector<SocketAddress>* addresses);

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_RESOLVER_H_
