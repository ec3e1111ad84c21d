#ifndef SLUICE_TESTS_RUNTIME_FIBER_FIXTURE_H_
#define SLUICE_TESTS_RUNTIME_FIBER_FIXTURE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "gtest/gtest.h"

#include "lib/base/clock.h"
#include "lib/runtime/loop.h"
#include "lib/runtime/socket.h"

namespace sluice::runtime {

inline Instant In(std::chrono::milliseconds span) {
  return std::chrono::steady_clock::now() + span;
}

/// Runs `body` as a fiber of a fresh loop, and the loop until every fiber has ended.
inline void RunFiber(std::function<void()> body) {
  Loop loop;
  loop.Post([&] { ASSERT_TRUE(loop.Spawn(std::move(body))); });
  loop.Stop();
  loop.Run();
}

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    ours = std::make_unique<Socket>(fds[0]);
    theirs = fds[1];
  }
  ~Pair() { CloseTheirs(); }
  void Send(const std::string& bytes) {
    ASSERT_EQ(::write(theirs, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void CloseTheirs() {
    if (theirs >= 0) ::close(std::exchange(theirs, -1));
  }
  std::unique_ptr<Socket> ours;
  int theirs;
};

}  // namespace sluice::runtime

#endif  // SLUICE_TESTS_RUNTIME_FIBER_FIXTURE_H_
