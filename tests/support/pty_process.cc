#include "tests/support/pty_process.h"

#include <array>
#include <cstdlib>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::testing {

PtyProcess::PtyProcess(const std::vector<std::string>& args) {
  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  const winsize size = {.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setenv("TERM", "xterm", 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
}

PtyProcess::~PtyProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (fd_ >= 0) ::close(fd_);
}

void PtyProcess::Type(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

bool PtyProcess::WaitFor(absl::string_view text, Duration patience) {
  const Instant deadline = DeadlineAfter(std::chrono::steady_clock::now(), patience);
  while (std::chrono::steady_clock::now() < deadline) {
    const size_t found = out_.find(std::string(text), seen_);
    if (found != std::string::npos) {
      seen_ = found + text.size();
      return true;
    }
    if (!ReadSome()) return false;
  }
  return false;
}

int PtyProcess::WaitForExit(Duration patience) {
  const Instant deadline = DeadlineAfter(std::chrono::steady_clock::now(), patience);
  while (std::chrono::steady_clock::now() < deadline) {
    ReadSome();
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return -1;
}

bool PtyProcess::ReadSome() {
  constexpr int kLookMs = 20;
  pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&readable, 1, kLookMs) <= 0) return true;
  std::array<char, 4096> buffer;
  const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
  if (n <= 0) return false;  // the program has ended
  out_.append(buffer.data(), static_cast<size_t>(n));
  return true;
}

}  // namespace sluice::testing
