#include "tests/support/child_process.h"

#include <algorithm>
#include <array>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"

namespace sluice::testing {

ChildProcess::ChildProcess(const std::vector<std::string>& args) {
  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  std::array<int, 2> out;
  std::array<int, 2> err;
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_.fd = out[0];
  err_.fd = err[0];
}

ChildProcess::~ChildProcess() {
  if (!ended_ && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const Stream* stream : {&out_, &err_}) {
    if (stream->fd >= 0) ::close(stream->fd);
  }
}

bool ChildProcess::WaitForOut(absl::string_view text, Duration patience) {
  return WaitUntil(patience, [&] { return absl::StrContains(out_.text, text); });
}

bool ChildProcess::WaitForErr(absl::string_view text, Duration patience) {
  return WaitUntil(patience, [&] { return absl::StrContains(err_.text, text); });
}

bool ChildProcess::WaitForMoreErr(size_t known, absl::string_view text) {
  return WaitUntil(kPatience, [&] {
    return absl::StrContains(absl::string_view(err_.text).substr(std::min(known, err_.text.size())),
                             text);
  });
}

void ChildProcess::CloseOut() {
  ::close(out_.fd);
  out_.fd = -1;
}

void ChildProcess::Signal(int number) { ::kill(pid_, number); }

int ChildProcess::WaitForExit(Duration patience) {
  return WaitUntil(patience, [&] { return Reap() && out_.fd < 0 && err_.fd < 0; }) ? exit_code_
                                                                                   : -1;
}

bool ChildProcess::WaitUntil(Duration patience, const std::function<bool()>& condition) {
  // The end of a process is no event of poll, so it is looked for at this interval.
  constexpr int kLookMs = 20;
  const Instant deadline = DeadlineAfter(std::chrono::steady_clock::now(), patience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    if (Reap() && out_.fd < 0 && err_.fd < 0) return condition();
    std::array<pollfd, 2> readable = {{{.fd = out_.fd, .events = POLLIN, .revents = 0},
                                       {.fd = err_.fd, .events = POLLIN, .revents = 0}}};
    ::poll(readable.data(), readable.size(), kLookMs);
    if (readable[0].revents != 0) ReadSome(&out_);
    if (readable[1].revents != 0) ReadSome(&err_);
  }
  return true;
}

void ChildProcess::ReadSome(Stream* stream) {
  std::array<char, 65536> bytes;
  const ssize_t n = ::read(stream->fd, bytes.data(), bytes.size());
  if (n > 0) {
    stream->text.append(bytes.data(), static_cast<size_t>(n));
  } else if (n == 0 || errno != EINTR) {
    ::close(stream->fd);
    stream->fd = -1;
  }
}

bool ChildProcess::Reap() {
  int status;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    ended_ = true;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return ended_;
}

}  // namespace sluice::testing
