#ifndef SLUICE_TESTS_INTEGRATION_NOTIFY_SOCKET_H_
#define SLUICE_TESTS_INTEGRATION_NOTIFY_SOCKET_H_

#include <array>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "tests/support/patience.h"
#include "tests/support/scoped_env.h"

namespace sluice::testing {

/// What systemd listens on, for the daemons that are started while it lives.
class NotifySocket {
 public:
  /// A path, or `@NAME` for an abstract one.
  explicit NotifySocket(const std::string& name)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)), variable_("NOTIFY_SOCKET", name) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0) << name;
  }
  ~NotifySocket() { ::close(fd_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  /// "" if none comes.
  std::string NextMessage() {
    pollfd readable{.fd = fd_, .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
    if (::poll(&readable, 1, static_cast<int>(patience.count())) <= 0) return "";
    std::array<char, 256> message;
    const ssize_t size = ::recv(fd_, message.data(), message.size(), 0);
    return std::string(message.data(), static_cast<size_t>(size));
  }

 private:
  const int fd_;
  const ScopedEnv variable_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_NOTIFY_SOCKET_H_
