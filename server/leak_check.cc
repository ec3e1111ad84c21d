#include "server/leak_check.h"

#include <dirent.h>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "absl/strings/numbers.h"

#include "server/event_convert.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

/// The local port of the TCP socket `fd`; nothing when it is something else.
std::optional<int> LocalTcpPort(int fd) {
  int type = 0;
  socklen_t type_size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0 || type != SOCK_STREAM) {
    return std::nullopt;
  }
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
  }
  return std::nullopt;
}

}  // namespace

int64_t CountTcpSockets(int but_port) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (folder == nullptr) return -1;
  int64_t count = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    int fd = 0;
    if (!absl::SimpleAtoi(entry->d_name, &fd)) continue;
    const std::optional<int> port = LocalTcpPort(fd);
    if (port.has_value() && *port != but_port) ++count;
  }
  return count;
}

void LeakCheck::Read(pb::CheckLeaksResponse* response) const {
  const ExchangeRegistry::Books books = registry_.books();
  response->set_opened(static_cast<int64_t>(books.entered));
  response->set_live(static_cast<int64_t>(books.running));
  int64_t finished = 0;
  for (const auto& [cause, count] : books.finished) {
    pb::CheckLeaksResponse::Closed* closed = response->add_closed();
    closed->set_cause(ToProto(cause));
    closed->set_exchanges(static_cast<int64_t>(count));
    finished += static_cast<int64_t>(count);
  }

  const auto add = [response](const char* name, int64_t booked, int64_t counted,
                              const char* source) {
    pb::CheckLeaksResponse::Reading* reading = response->add_readings();
    reading->set_name(name);
    reading->set_booked(booked);
    reading->set_counted(counted);
    reading->set_source(source);
  };
  const DataPlane::Resources held = data_plane_.resources();
  int64_t leases = 0;
  for (const auto& endpoint : endpoints_.ReadAll()) leases += endpoint.in_flight;
  int64_t at_endpoints = 0;
  for (const ExchangeView& view : registry_.ListRunning()) {
    at_endpoints += static_cast<int64_t>(view.endpoints_in_use().size());
  }

  const int64_t connections =
      static_cast<int64_t>(held.client_connections + held.admin_connections);
  const int64_t sockets = static_cast<int64_t>(held.sockets);
  const int64_t listeners = static_cast<int64_t>(held.listeners);
  add("exchanges", static_cast<int64_t>(books.entered) - finished, data_plane_.in_flight(),
      "exchanges that the relay serves");
  add("endpoint leases", leases, at_endpoints, "attempts that running exchanges make");
  add("sockets", sockets, CountTcpSockets(control_port_),
      "/proc/self/fd, without the control port");
  add("upstream connections", static_cast<int64_t>(held.upstream_connections),
      sockets - connections - listeners, "sockets that are of no client and no listener");
  add("fibers", static_cast<int64_t>(held.fibers),
      connections + listeners + static_cast<int64_t>(held.upstream_fibers),
      "connections, listeners, pools of connections, probes and hedged attempts");
}

}  // namespace sluice::server
