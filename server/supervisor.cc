#include "server/supervisor.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

namespace sluice::server {
namespace {

std::string SocketPath() {
  const char* path = std::getenv("NOTIFY_SOCKET");
  return path == nullptr ? "" : path;
}

}  // namespace

Supervisor::Supervisor() : socket_path_(SocketPath()) {}

// systemd wants the time with it, to match the message to its own request.
void Supervisor::TellReloading() const {
  const auto now = SystemClock().Now().time_since_epoch();
  Tell(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=",
                    std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
}

void Supervisor::Tell(absl::string_view state) const {
  if (socket_path_.empty()) return;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  int error = ENAMETOOLONG;
  if (socket_path_.size() < sizeof address.sun_path) {
    std::memcpy(address.sun_path, socket_path_.data(), socket_path_.size());
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // Linux's abstract names
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_path_.size());
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const ssize_t sent = ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&address), size);
    error = sent < 0 ? errno : 0;
    if (fd >= 0) ::close(fd);
  }
  if (error == 0) return;
  Log(LogLevel::kWarning, "the supervisor cannot be told",
      {{"state", state}, {"NOTIFY_SOCKET", socket_path_}, {"reason", std::strerror(error)}});
}

}  // namespace sluice::server
