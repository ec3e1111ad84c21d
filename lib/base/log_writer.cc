#include "lib/base/log_writer.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/log.h"

namespace sluice {
namespace {

/// How often a writer that waits for its reader looks whether it is to end.
constexpr int kPollMs = 100;
/// Gathers lines: under load, one wake-up and one write are for many.
constexpr Duration kGatherTime = std::chrono::milliseconds(2);

Instant Now() { return std::chrono::steady_clock::now(); }

}  // namespace

LogWriter::LogWriter(int fd) : fd_(fd), thread_([this] { Run(); }) {
  SetLogSink([this](absl::string_view line) { Put(line); });
}

LogWriter::~LogWriter() {
  {
    MutexLock lock(&mutex_);
    ending_ = true;
  }
  news_.NotifyOne();
  thread_.join();
  SetLogSink({});
}

void LogWriter::Put(absl::string_view line) {
  bool was_empty;
  {
    MutexLock lock(&mutex_);
    // The count of those dropped is never dropped itself: nobody would know of them.
    const bool is_count = std::this_thread::get_id() == writing_;
    if (held_.size() + line.size() >= kMaxHeldBytes && !is_count) {
      ++dropped_;
      return;
    }
    was_empty = held_.empty();
    absl::StrAppend(&held_, line, "\n");
  }
  if (was_empty) news_.NotifyOne();
}

void LogWriter::Run() {
  ::pthread_setname_np(::pthread_self(), "sluice-log");
  {
    MutexLock lock(&mutex_);
    writing_ = std::this_thread::get_id();
  }
  Instant deadline = kNever;
  while (Now() < deadline) {
    std::string lines;
    uint64_t dropped;
    {
      MutexLock lock(&mutex_);
      news_.Wait(&mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return ending_ || !held_.empty();
      });
      news_.WaitFor(&mutex_, kGatherTime,
                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_; });
      if (ending_ && held_.empty()) return;
      if (ending_ && deadline == kNever) deadline = Now() + kEndPatience;
      lines = std::exchange(held_, {});
      dropped = std::exchange(dropped_, 0);
    }
    Write(lines, &deadline);
    // They came after the lines just written, as the reader did not take those.
    if (dropped > 0) Log(LogLevel::kWarning, "log lines were dropped", {{"count", dropped}});
  }
}

void LogWriter::Write(absl::string_view lines, Instant* deadline) {
  while (!lines.empty()) {
    pollfd writable = {.fd = fd_, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&writable, 1, kPollMs);
    if (ready == 0) {
      if (*deadline == kNever && ending()) *deadline = Now() + kEndPatience;
      if (Now() >= *deadline) return;
      continue;
    }
    // A pipe that polls as writable takes this much without blocking (pipe(7)).
    const ssize_t written = ::write(fd_, lines.data(), std::min<size_t>(lines.size(), PIPE_BUF));
    if (written > 0) {
      lines.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return;  // a log that cannot be written has nowhere to be reported
    }
  }
}

bool LogWriter::ending() {
  MutexLock lock(&mutex_);
  return ending_;
}

}  // namespace sluice
