#include "lib/http/resolver.h"

#include <cstring>
#include <memory>
#include <netdb.h>

#include "absl/strings/str_cat.h"

#include "lib/runtime/wake.h"

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

WaitResult Resolve(runtime::BlockingPool& threads, const std::string& host, int port,
                   Instant deadline, std::vector<SocketAddress>* addresses) {
  auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = absl::StrCat(port);
  lookup->Run(AI_NUMERICHOST);
  if (lookup->error == EAI_NONAME) {
    switch (threads.Run([lookup] { lookup->Run(AI_ADDRCONFIG); }, deadline)) {
      case runtime::Wake::kReady:
        break;
      case runtime::Wake::kDeadline:
        return {.kind = WaitResult::kDeadline};
      case runtime::Wake::kInterrupted:
        return {.kind = WaitResult::kCancelled};
    }
  }
  if (lookup->error != 0) {
    return {WaitResult::kFailed, Cause::kDnsFailed,
            absl::StrCat(host, ": ", ::gai_strerror(lookup->error))};
  }
  *addresses = lookup->found;
  return {};
}

}  // namespace sluice::http
