#ifndef SLUICE_TESTS_SUPPORT_CHILD_PROCESS_H_
#define SLUICE_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "tests/support/patience.h"

namespace sluice::testing {

/// A program that a test runs. Its outputs are collected as they come, so it never blocks on them.
/// The destructor kills it (SIGKILL) if it still runs. Confined to one thread.
class ChildProcess {
 public:
  /// `args[0]` is the program's path. Standard input is empty. A program that cannot be run exits
  /// with 127.
  explicit ChildProcess(const std::vector<std::string>& args);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// All that came so far; brought up to date by the waits.
  const std::string& out() const { return out_.text; }
  const std::string& err() const { return err_.text; }

  /// Waits until out() or err() holds `text`.
  bool WaitForOut(absl::string_view text, Duration patience = kPatience);
  bool WaitForErr(absl::string_view text, Duration patience = kPatience);
  /// Waits until what comes after the first `known` bytes of err() holds `text`.
  bool WaitForMoreErr(size_t known, absl::string_view text);
  /// Closes our end of its standard output, as `| head` does.
  void CloseOut();

  void Signal(int number);
  /// Waits for the end and for the rest of the output. The exit code, 128 + N after signal N, or -1
  /// if it did not end in time.
  int WaitForExit(Duration patience = kPatience);

 private:
  struct Stream {
    int fd = -1;
    std::string text;
  };

  bool WaitUntil(Duration patience, const std::function<bool()>& condition);
  void ReadSome(Stream* stream);
  bool Reap();

  pid_t pid_ = -1;
  int exit_code_ = -1;
  bool ended_ = false;
  Stream out_;
  Stream err_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_CHILD_PROCESS_H_
