#include "lib/http/resolver.h"

#include <arpa/inet.h>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "absl/strings/str_cat.h"

#include "lib/http/wait_results.h"

namespace sluice::http {
namespace {

/// Owned by the look-up and by who waits for it: either may be first to let go.
struct Lookup {
  std::string host;
  std::string port;
  int error = 0;
  std::vector<SocketAddress> found;

  void Run(int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (error != 0) return;
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
      SocketAddress address;
      std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
      address.size = entry->ai_addrlen;
      found.push_back(address);
    }
    ::freeaddrinfo(list);
  }
};

}  // namespace

bool IsAddress(const std::string& host) {
  in6_addr address;
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

SocketAddress UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  SocketAddress result;
  std::memcpy(&result.storage, &address, sizeof address);
  result.size = sizeof address;
  return result;
}

WaitResult Resolve(runtime::BlockingPool& threads, const std::string& host, int port,
                   Instant deadline, std::vector<SocketAddress>* addresses) {
  auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = absl::StrCat(port);
  lookup->Run(AI_NUMERICHOST);
  if (lookup->error == EAI_NONAME) {
    const runtime::Wake wake = threads.Run([lookup] { lookup->Run(AI_ADDRCONFIG); }, deadline);
    if (wake != runtime::Wake::kReady) return NotReady(wake);
  }
  if (lookup->error != 0) {
    return Failed(Cause::kDnsFailed, absl::StrCat(host, ": ", ::gai_strerror(lookup->error)));
  }
  *addresses = lookup->found;
  return {};
}

}  // namespace sluice::http
