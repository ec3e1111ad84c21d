#ifndef SLUICE_LIB_RUNTIME_SOCKET_H_
#define SLUICE_LIB_RUNTIME_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <sys/types.h>

#include "absl/types/span.h"

#include "lib/base/clock.h"
#include "lib/runtime/wake.h"

struct iovec;

namespace sluice::runtime {

class Fiber;
class Loop;

/// A connected or connecting (or listening) non-blocking socket on the running loop, whose thread
/// is the only one to use it. One fiber at a time waits for it.
class Socket {
 public:
  /// Takes `fd`, which must be non-blocking, and registers it with Loop::Current(). Call connect(2)
  /// first.
  explicit Socket(int fd);
  /// Closes it. With unread bytes the kernel sends RST, else FIN.
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

  /// As recv(2) and sendmsg(2) without blocking: bytes, 0 at the peer's end (Read), or -1 with
  /// errno. Each remembers what the result says of the next call, so that no call is made only to
  /// see EAGAIN.
  ssize_t Read(char* buffer, size_t size);
  ssize_t Write(absl::Span<iovec> parts);

  /// Waits until Read has something to say (bytes, end or error) / until Write may take bytes.
  Wake WaitReadable(Instant deadline, Interrupts interrupts = Interrupts::kHeed);
  Wake WaitWritable(Instant deadline, Interrupts interrupts = Interrupts::kHeed);
  /// Waits for either.
  Wake WaitAny(Instant deadline, Interrupts interrupts = Interrupts::kHeed);

  /// After connect(2) gave EINPROGRESS: WaitWritable waits for the connection, or its failure.
  void ExpectConnect() { ready_ = 0; }
  /// For a listener, after accept(2) gave EAGAIN.
  void MarkDrained() { ready_ &= ~kReadable; }

  /// Whether bytes, an end or an error may wait to be read; what epoll said last, no system call.
  bool readable() const { return (ready_ & kReadable) != 0; }
  /// Whether the peer has closed or half-closed, even with bytes still unread before that.
  bool hung_up() const { return hung_up_; }

  /// `on_hang_up` runs on the loop, outside any fiber, when the peer first hangs up (at once if it
  /// has); it must not wait nor destroy this. Empty: nobody cares.
  void OnHangUp(std::function<void()> on_hang_up);

 private:
  friend class Loop;
  static constexpr uint8_t kReadable = 1;
  static constexpr uint8_t kWritable = 2;

  void OnEvents(uint32_t events);
  Wake Wait(uint8_t wanted, Instant deadline, Interrupts interrupts);

  const int fd_;
  Loop& loop_;
  Fiber* waiter_ = nullptr;
  uint8_t wanted_ = 0;                     // by the waiter
  uint8_t ready_ = kReadable | kWritable;  // optimistic at first: the first call finds out
  bool hung_up_ = false;
  std::function<void()> on_hang_up_;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_SOCKET_H_
