#include "admin/interruptible_input.h"

#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace sluice::admin {

InterruptibleInput::InterruptibleInput(std::stop_token stop) : stopped_(::eventfd(0, EFD_CLOEXEC)) {
  on_stop_.emplace(std::move(stop), [this] {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(stopped_, &one, sizeof(one));
  });
}

InterruptibleInput::~InterruptibleInput() {
  on_stop_.reset();
  ::close(stopped_);
}

InterruptibleInput::int_type InterruptibleInput::underflow() {
  std::array<pollfd, 2> waits = {{{.fd = stopped_, .events = POLLIN, .revents = 0},
                                  {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return traits_type::eof();
    }
    if (waits[0].revents != 0) return traits_type::eof();
    const ssize_t size = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + size);
    return traits_type::to_int_type(*gptr());
  }
}

}  // namespace sluice::admin
