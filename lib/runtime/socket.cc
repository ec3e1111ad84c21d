#include "lib/runtime/socket.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include "lib/runtime/fiber.h"
#include "lib/runtime/loop.h"

namespace sluice::runtime {

Socket::Socket(int fd) : fd_(fd), loop_(*Loop::Current()) {
  // Nothing would wake who waits for it: let it look broken, which ends its use.
  if (!loop_.Watch(fd_, this)) hung_up_ = true;
  loop_.sockets_.fetch_add(1, std::memory_order_relaxed);
}

Socket::~Socket() {
  ::close(fd_);
  loop_.sockets_.fetch_sub(1, std::memory_order_relaxed);
}

ssize_t Socket::Read(char* buffer, size_t size) {
  ssize_t got;
  do {
    got = ::recv(fd_, buffer, size, 0);
  } while (got < 0 && errno == EINTR);
  // A short read emptied the socket (epoll(7), on edge-triggered streams), unless the end is near.
  if (got < 0 ? errno == EAGAIN : static_cast<size_t>(got) < size && !hung_up_)
    ready_ &= ~kReadable;
  return got;
}

ssize_t Socket::Write(absl::Span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  size_t size = 0;
  for (const iovec& part : parts) size += part.iov_len;
  ssize_t put;
  do {
    // The kernel reads no message header for one part.
    put = parts.size() == 1 ? ::send(fd_, parts[0].iov_base, size, MSG_NOSIGNAL)
                            : ::sendmsg(fd_, &message, MSG_NOSIGNAL);
  } while (put < 0 && errno == EINTR);
  // A short write filled the socket.
  if (put < 0 ? errno == EAGAIN : static_cast<size_t>(put) < size) ready_ &= ~kWritable;
  return put;
}

Wake Socket::WaitReadable(Instant deadline, Interrupts interrupts) {
  return Wait(kReadable, deadline, interrupts);
}

Wake Socket::WaitWritable(Instant deadline, Interrupts interrupts) {
  return Wait(kWritable, deadline, interrupts);
}

Wake Socket::WaitAny(Instant deadline, Interrupts interrupts) {
  return Wait(kReadable | kWritable, deadline, interrupts);
}

Wake Socket::Wait(uint8_t wanted, Instant deadline, Interrupts interrupts) {
  if (interrupts == Interrupts::kHeed && loop_.running_->interrupted) return Wake::kInterrupted;
  if (ready_ & wanted) {
    loop_.SpendTurn();
    return Wake::kReady;
  }
  waiter_ = loop_.running_;
  wanted_ = wanted;
  const Wake wake = loop_.Suspend(deadline, interrupts != Interrupts::kIgnore);
  waiter_ = nullptr;
  return wake;
}

void Socket::OnHangUp(std::function<void()> on_hang_up) {
  on_hang_up_ = std::move(on_hang_up);
  if (hung_up_ && on_hang_up_) std::exchange(on_hang_up_, nullptr)();
}

void Socket::OnEvents(uint32_t events) {
  const bool broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
  if (broken || (events & (EPOLLIN | EPOLLRDHUP))) ready_ |= kReadable;
  if (broken || (events & EPOLLOUT)) ready_ |= kWritable;
  if (broken || (events & EPOLLRDHUP)) hung_up_ = true;
  if (waiter_ != nullptr && (ready_ & wanted_)) loop_.Schedule(waiter_, Wake::kReady);
  if (hung_up_ && on_hang_up_) std::exchange(on_hang_up_, nullptr)();
}

}  // namespace sluice::runtime
